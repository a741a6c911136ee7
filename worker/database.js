// SQLite in the storage worker: on OPFS where the browser has it, else the same build in memory. There is no second
// engine and no silent fork: memory is used only where OPFS does not exist, and the reader is told.

import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { Failure, describe } from "./failure.js";
import { fetchBytes } from "./fetching.js";
import { SET_ASIDE, SetAside } from "./setaside.js";

/** Milliseconds to wait for a tab that is closing: its file handles go a moment after its lock does. */
const HANDLES_MS = 3_000;
const RETRY_MS = 100;

/** Files in the pool: the database, its WAL and journal, twice over for temporary files. */
const POOL_FILES = 6;

const FILE = "/agent.db";

/** SQLite's primary result codes by what they mean to a reader. */
const MEANING = new Map([
  [5, ["busy", "Close other tabs of this site, then reload the page."]],
  [6, ["busy", "Close other tabs of this site, then reload the page."]],
  [11, ["damaged", "Reload the page: what can be mended is mended, else the file is set aside and a new one begun."]],
  [26, ["damaged", "Reload the page: what can be mended is mended, else the file is set aside and a new one begun."]],
  [13, ["full", "Free some space on the device, or clear this site's data in the browser's settings."]],
]);

/** Result codes of the first statements that mean a broken file: error, readonly, corrupt, not a database. */
const FAULTS = [1, 8, 11, 26];

/**
 * Bytes up to which a file is read through at every start: about 130 ms for 16 MB, nearly all of it for the search index, while Python starts beside it. A
 * larger one is read through once a statement has found damage.
 */
const CHECKED_BYTES = 64_000_000;

/** The search index is made from other tables, so a broken one can be made again. */
const BROKEN_INDEX = /\bfts5\b/i;
const INDEXES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%fts5%'";

export const NOT_KEPT = "This browser gives the site no storage (a private window?), so the conversation is not kept.";

/**
 * The site's folder on OPFS; null where the browser has no OPFS, or none for this page.
 * @param {string} directory
 * @returns {Promise<FileSystemDirectoryHandle | null>}
 */
export async function openFolder(directory) {
  const api = globalThis.FileSystemFileHandle?.prototype;
  if (!navigator.storage?.getDirectory || !api || !("createSyncAccessHandle" in api)) return null;
  try {
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(directory, { create: true });
  } catch (thrown) {
    // What browsers throw where storage is switched off for this page or window. Anything else is a fault, not a mode.
    if (thrown instanceof DOMException && ["SecurityError", "NotAllowedError", "NotSupportedError"].includes(thrown.name)) {
      return null;
    }
    throw new Failure("unavailable", `The browser's private file system does not open: ${describe(thrown)}.`, "Reload the page.");
  }
}

/**
 * @param {string} wasm URL of sqlite3.wasm
 * @param {string} directory name of the folder on OPFS
 * @param {FileSystemDirectoryHandle | null} folder that folder; null: in memory
 * @returns {Promise<Database>}
 */
export async function openDatabase(wasm, directory, folder) {
  const wasmBinary = await fetchBytes(wasm, "SQLite");
  // The other file systems of the package start a worker of their own, or want headers that we do not ask for.
  Object.assign(globalThis, { sqlite3ApiConfig: { disable: { vfs: { opfs: true, "opfs-vfs": true, "opfs-wl": true, kvvfs: true } } } });
  const sqlite3 = await /** @type {any} */ (sqlite3InitModule)({
    wasmBinary,
    locateFile: () => wasm,
    print: (/** @type {string} */ line) => console.debug(line),
    printErr: (/** @type {string} */ line) => console.debug(line), // every failure also comes as an exception
  });
  try {
    return folder ? await openPooled(sqlite3, directory, folder) : new Database(new sqlite3.oo1.DB(":memory:", "c"), null, null, "");
  } catch (thrown) {
    throw explain(thrown);
  }
}

/**
 * @param {any} sqlite3
 * @param {string} directory
 * @param {FileSystemDirectoryHandle} folder
 * @returns {Promise<Database>}
 */
async function openPooled(sqlite3, directory, folder) {
  const aside = new SetAside(folder);
  const files = await folder.getDirectoryHandle("sqlite", { create: true });
  const lost = await aside.rescue(await files.getDirectoryHandle(".opaque", { create: true }), FILE);
  const end = performance.now() + HANDLES_MS;
  for (;;) {
    try {
      const pool = await sqlite3.installOpfsSAHPoolVfs({
        directory: `/${directory}/sqlite`,
        initialCapacity: POOL_FILES,
        // Without these two a failed start would delete what is stored, and a second try would get the first's error.
        preserveOnInitFailure: true,
        forceReinitIfPreviouslyFailed: true,
      });
      if (pool.isPaused()) await pool.unpauseVfs(); // it was closed before, in this worker
      const marked = await aside.isMarked();
      let db = new pool.OpfsSAHPoolDb(FILE);
      const broken = !prepare(db, marked);
      if (broken) {
        // Copied while it is open: closing it, SQLite writes what it believes to be the log into it.
        await aside.keep(
          pool
            .getFileNames()
            .map((/** @type {string} */ name) => [name.slice(FILE.length), pool.exportFile(name)])
            .filter((/** @type {[string, Uint8Array]} */ [, bytes]) => bytes.length),
        );
        db.close();
        for (const name of pool.getFileNames()) pool.unlink(name);
        db = new pool.OpfsSAHPoolDb(FILE);
        prepare(db, false);
      }
      if (marked) await aside.unmark();
      return new Database(db, pool, aside, lost || broken ? SET_ASIDE : "");
    } catch (thrown) {
      if (!isHeld(thrown)) throw thrown;
      if (performance.now() > end) {
        const text = "The conversations are held by another tab that does not let go.";
        throw new Failure("busy", text, "Close the other tabs of this site, then reload the page.");
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/**
 * The first statements of a connection, and a look at what the file holds.
 * @param {any} db
 * @param {boolean} thorough
 * @returns {boolean} false: the file is broken
 */
function prepare(db, thorough) {
  try {
    // First of all: with WAL and without shared memory an existing database opens in exclusive mode only.
    db.exec("PRAGMA locking_mode = exclusive");
    if (faultsOf(db, thorough).length) return false;
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = FULL");
    return true;
  } catch (thrown) {
    if (FAULTS.includes(codeOf(thrown))) return false;
    throw thrown;
  }
}

/**
 * @param {any} db
 * @param {boolean} thorough
 * @returns {string[]}
 */
function faultsOf(db, thorough) {
  const bytes = db.selectValue("PRAGMA page_count") * db.selectValue("PRAGMA page_size");
  if (!thorough && bytes > CHECKED_BYTES) return [];
  const look = () =>
    db.selectValues(thorough ? "PRAGMA integrity_check" : "PRAGMA quick_check").filter((/** @type {string} */ line) => line !== "ok");
  const faults = look();
  if (!faults.every((/** @type {string} */ line) => BROKEN_INDEX.test(line)) || !(faults.length || thorough)) return faults;
  for (const table of db.selectValues(INDEXES)) db.exec(`INSERT INTO ${table} (${table}) VALUES ('rebuild')`);
  return look();
}

/** @param {unknown} thrown */
const codeOf = (thrown) => (/** @type {{resultCode?: number}} */ (thrown).resultCode ?? 0) & 0xff;

/** @param {unknown} thrown */
function isHeld(thrown) {
  return thrown instanceof Error && /NoModificationAllowedError|Access Handles cannot be created/.test(`${thrown.name} ${thrown.message}`);
}

/** @param {unknown} thrown */
function explain(thrown) {
  if (thrown instanceof Failure) return thrown;
  const [name, hint] = MEANING.get(codeOf(thrown)) ?? ["unavailable", "Reload the page. If it happens again, report it with this text."];
  return new Failure(name, `The browser's database refused: ${describe(thrown)}.`, hint);
}

export class Database {
  /**
   * @param {any} db an `oo1.DB`
   * @param {any} pool of its file handles; null in memory
   * @param {SetAside | null} aside null in memory
   * @param {string} notice what the reader must know
   */
  constructor(db, pool, aside, notice) {
    this.db = db;
    this.pool = pool;
    this.aside = aside;
    this.notice = notice;
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA secure_delete = ON"); // what is deleted is overwritten
    db.exec("PRAGMA temp_store = MEMORY"); // no words in files that nobody would clean
  }

  /**
   * @param {string} sql
   * @param {unknown[]} params
   * @returns {Promise<Record<string, unknown>[]>}
   */
  async execute(sql, params) {
    try {
      return this.db.exec({ sql, ...bound(params), rowMode: "object", returnValue: "resultRows" });
    } catch (thrown) {
      throw await this.refused(thrown);
    }
  }

  /** @param {[string, unknown[]][]} statements all or none */
  async transaction(statements) {
    try {
      this.db.transaction("IMMEDIATE", () => {
        for (const [sql, params] of statements) this.db.exec({ sql, ...bound(params) });
      });
    } catch (thrown) {
      throw await this.refused(thrown);
    }
  }

  /**
   * @param {string | null} containing see `SetAside.forget`
   * @returns {Promise<number>}
   */
  async forgetSetAside(containing) {
    return this.aside ? this.aside.forget(containing) : 0;
  }

  /** @param {unknown} thrown */
  async refused(thrown) {
    const failure = explain(thrown);
    if (failure.code === "damaged") await this.aside?.mark(); // the next start looks closer
    return failure;
  }

  close() {
    this.db.close();
    this.pool?.pauseVfs(); // gives the file handles back: another tab may open them
  }
}

/**
 * SQLite refuses an empty list for a statement without parameters.
 * @param {unknown[]} params
 */
function bound(params) {
  return params.length ? { bind: params } : {};
}
