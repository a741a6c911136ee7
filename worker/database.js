// SQLite in the storage worker: on OPFS where the browser has it, else the same build in memory. There is no second
// engine and no silent fork: memory is used only where OPFS does not exist, and the reader is told.

import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { Failure, describe } from "./failure.js";
import { fetchBytes } from "./fetching.js";

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
  [11, ["damaged", "Clear this site's data in the browser's settings to start afresh; the conversations are lost."]],
  [26, ["damaged", "Clear this site's data in the browser's settings to start afresh; the conversations are lost."]],
  [13, ["full", "Free some space on the device, or clear this site's data in the browser's settings."]],
]);

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
 * @param {string | null} directory folder on OPFS; null: in memory
 * @returns {Promise<Database>}
 */
export async function openDatabase(wasm, directory) {
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
    return directory === null ? new Database(new sqlite3.oo1.DB(":memory:", "c"), null) : await openPooled(sqlite3, directory);
  } catch (thrown) {
    throw explain(thrown);
  }
}

/**
 * @param {any} sqlite3
 * @param {string} directory
 * @returns {Promise<Database>}
 */
async function openPooled(sqlite3, directory) {
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
      const db = new pool.OpfsSAHPoolDb(FILE);
      // First of all: with WAL and without shared memory an existing database opens in exclusive mode only.
      db.exec("PRAGMA locking_mode = exclusive");
      db.exec("PRAGMA journal_mode = WAL");
      db.exec("PRAGMA synchronous = FULL");
      return new Database(db, pool);
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

/** @param {unknown} thrown */
function isHeld(thrown) {
  return thrown instanceof Error && /NoModificationAllowedError|Access Handles cannot be created/.test(`${thrown.name} ${thrown.message}`);
}

/** @param {unknown} thrown */
function explain(thrown) {
  if (thrown instanceof Failure) return thrown;
  const code = /** @type {{resultCode?: number}} */ (thrown).resultCode ?? 0;
  const [name, hint] = MEANING.get(code & 0xff) ?? ["unavailable", "Reload the page. If it happens again, report it with this text."];
  return new Failure(name, `The browser's database refused: ${describe(thrown)}.`, hint);
}

export class Database {
  /**
   * @param {any} db an `oo1.DB`
   * @param {any} pool of its file handles; null in memory
   */
  constructor(db, pool) {
    this.db = db;
    this.pool = pool;
    db.exec("PRAGMA foreign_keys = ON");
  }

  /**
   * @param {string} sql
   * @param {unknown[]} params
   * @returns {Record<string, unknown>[]}
   */
  execute(sql, params) {
    try {
      return this.db.exec({ sql, ...bound(params), rowMode: "object", returnValue: "resultRows" });
    } catch (thrown) {
      throw explain(thrown);
    }
  }

  /** @param {[string, unknown[]][]} statements all or none */
  transaction(statements) {
    try {
      this.db.transaction("IMMEDIATE", () => {
        for (const [sql, params] of statements) this.db.exec({ sql, ...bound(params) });
      });
    } catch (thrown) {
      throw explain(thrown);
    }
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
