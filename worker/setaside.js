// What cannot be read is moved aside and never deleted: a damaged database goes into `set-aside/` of the site's folder,
// its bytes unchanged. Only the reader's own "delete" takes it away. CPython's side is py_agent/storage/setaside.py.

import { Failure, describe } from "./failure.js";

/** Folder of the copies, below the site's. */
const FOLDER = "set-aside";

/** An empty file that tells the next start that a statement has found damage. */
const MARK = "damaged";

/** Bytes that are searched at a time. */
const PIECE = 1 << 20;

/** The pool of file handles keeps path, flags and a digest of both in front of each file's data. */
const HEADER = { path: 512, digest: 516, length: 524, data: 4096 };

/** `SQLITE_OPEN_MEMORY`, with which the pool says that it has computed the digest. */
const HAS_DIGEST = 0x80;

export const SET_ASIDE =
  "Your earlier conversations could not be read: the file that holds them is damaged. They were set aside in this browser, " +
  "unchanged, and a new file was begun. Deleting all conversations deletes that copy, too.";

/** @typedef {{read(buffer: Uint8Array, options: {at: number}): number, write(buffer: Uint8Array, options: {at: number}): number, truncate(size: number): void, getSize(): number, flush(): void, close(): void}} AccessHandle */

export class SetAside {
  /** @param {FileSystemDirectoryHandle} folder the site's */
  constructor(folder) {
    this.folder = folder;
  }

  /**
   * Stores copies of what belongs together.
   * @param {[ending: string, bytes: Uint8Array][]} files
   */
  async keep(files) {
    const folder = await this.folder.getDirectoryHandle(FOLDER, { create: true });
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    const salt = Math.random().toString(36).slice(2, 6);
    /** @type {string[]} */
    const names = [];
    try {
      for (const [ending, bytes] of files) {
        const name = `agent-${stamp}-${salt}.db${ending}`;
        names.push(name);
        const handle = await accessTo(folder, name);
        try {
          if (handle.write(bytes, { at: 0 }) !== bytes.length) throw new DOMException("The write was cut.", "QuotaExceededError");
          handle.flush();
        } finally {
          handle.close();
        }
      }
    } catch (thrown) {
      for (const name of names) await folder.removeEntry(name).catch(() => {}); // half a copy is none; the cause is told
      const text = `Your earlier conversations are damaged, and they could not be copied out of the way: ${describe(thrown)}.`;
      throw new Failure("full", text, "Free some space on the device, then reload the page.");
    }
  }

  /**
   * Copies what would be deleted by opening the database: files whose header is broken, which the pool takes for unused
   * and empties, and a log without its database, which SQLite deletes.
   * @param {FileSystemDirectoryHandle} pool
   * @param {string} database its name in the pool
   * @returns {Promise<boolean>} whether there were any
   */
  async rescue(pool, database) {
    let found = false;
    /** @type {Map<string, File>} */
    const whole = new Map();
    for await (const handle of /** @type {any} */ (pool).values()) {
      if (handle.kind !== "file") continue;
      const file = await handle.getFile();
      if (file.size <= HEADER.data) continue;
      const header = new Uint8Array(await file.slice(0, HEADER.length).arrayBuffer());
      if (isWhole(header)) {
        whole.set(new TextDecoder().decode(header.subarray(0, header.indexOf(0))), file);
        continue;
      }
      await this.keep([[".raw", new Uint8Array(await file.arrayBuffer())]]);
      found = true;
    }
    const log = whole.get(`${database}-wal`);
    if (!log || whole.has(database)) return found;
    await this.keep([["-wal", new Uint8Array(await log.slice(HEADER.data).arrayBuffer())]]);
    return true;
  }

  /**
   * Deletes copies.
   * @param {string | null} containing only those in which this ASCII text stands; null: all
   * @returns {Promise<number>} how many
   */
  async forget(containing) {
    const folder = await this.folder.getDirectoryHandle(FOLDER, { create: true });
    /** @type {Map<string, string[]>} */
    const copies = new Map();
    for await (const name of /** @type {any} */ (folder).keys()) {
      const copy = name.replace(/\.db.*$/, "");
      copies.set(copy, [...(copies.get(copy) ?? []), name]);
    }
    let gone = 0;
    for (const names of copies.values()) {
      if (containing !== null && !(await anyContains(folder, names, containing))) continue;
      for (const name of names) await folder.removeEntry(name);
      gone += 1;
    }
    return gone;
  }

  async isMarked() {
    return this.folder.getFileHandle(MARK).then(
      () => true,
      () => false,
    );
  }

  async mark() {
    await this.folder.getFileHandle(MARK, { create: true });
  }

  async unmark() {
    if (await this.isMarked()) await this.folder.removeEntry(MARK);
  }
}

/**
 * Whether the pool will know the file again (`computeDigest` of the package's pool).
 * @param {Uint8Array} header
 */
function isWhole(header) {
  const view = new DataView(header.buffer);
  if (header[0] === 0) return false; // it has data and no name
  if (!(view.getUint32(HEADER.path) & HAS_DIGEST)) return view.getUint32(HEADER.digest) === 0;
  let [first, second] = [0xdeadbeef, 0x41c6ce57];
  for (const byte of header.subarray(0, HEADER.digest)) {
    first = Math.imul(first ^ byte, 2654435761);
    second = Math.imul(second ^ byte, 104729);
  }
  return view.getUint32(HEADER.digest, true) === first >>> 0 && view.getUint32(HEADER.digest + 4, true) === second >>> 0;
}

/**
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} name
 * @returns {Promise<AccessHandle>}
 */
async function accessTo(folder, name) {
  const file = await folder.getFileHandle(name, { create: true });
  return /** @type {any} */ (file).createSyncAccessHandle();
}

/**
 * @param {FileSystemDirectoryHandle} folder
 * @param {string[]} names
 * @param {string} text ASCII
 */
async function anyContains(folder, names, text) {
  for (const name of names) {
    const file = await (await folder.getFileHandle(name)).getFile();
    for (let at = 0; at < file.size; at += PIECE) {
      const piece = await file.slice(at, at + PIECE + text.length).arrayBuffer();
      if (new TextDecoder("latin1").decode(piece).includes(text)) return true;
    }
  }
  return false;
}
