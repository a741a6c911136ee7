// Bytes kept aside by key: on OPFS with sync access handles, or in memory where there is no OPFS.

import { Failure, describe } from "./failure.js";
import { foldersOf, keyOf, pathOf } from "./spoolnames.js";

/**
 * @typedef {object} Spool
 * @property {(key: string, data: Uint8Array) => Promise<void>} write
 * @property {(key: string, data: Uint8Array) => Promise<void>} append
 * @property {(key: string, start: number, end: number | null) => Promise<Uint8Array<ArrayBuffer>>} read
 * @property {(key: string) => Promise<number>} size
 * @property {(prefix: string) => Promise<number>} remove
 */

/**
 * The part of `FileSystemSyncAccessHandle` that is used; TypeScript knows it only in its library for workers.
 * @typedef {{read(buffer: Uint8Array, options: {at: number}): number, write(buffer: Uint8Array, options: {at: number}): number, truncate(size: number): void, getSize(): number, flush(): void, close(): void}} AccessHandle
 */

/** @param {string} key */
const noSuchKey = (key) => new Failure("no_such_key", `The spool holds nothing under ${JSON.stringify(key)}.`);

/** @param {unknown} thrown */
function refusedWrite(thrown) {
  if (thrown instanceof DOMException && thrown.name === "QuotaExceededError") {
    const hint = "Free some space on the device, or clear this site's data in the browser's settings.";
    return new Failure("full", "The browser has no more space for this site.", hint);
  }
  return new Failure("unavailable", `The browser's private file system refused a write: ${describe(thrown)}.`, "Reload the page.");
}

/** @implements {Spool} */
export class MemorySpool {
  constructor() {
    /** @type {Map<string, Uint8Array>} */
    this.kept = new Map();
  }

  /**
   * @param {string} key
   * @param {Uint8Array} data
   */
  async write(key, data) {
    this.kept.set(key, data);
  }

  /**
   * @param {string} key
   * @param {Uint8Array} data
   */
  async append(key, data) {
    const before = this.kept.get(key) ?? new Uint8Array();
    const joined = new Uint8Array(before.length + data.length);
    joined.set(before);
    joined.set(data, before.length);
    this.kept.set(key, joined);
  }

  /**
   * @param {string} key
   * @param {number} start
   * @param {number | null} end
   */
  async read(key, start, end) {
    return new Uint8Array(this.get(key).slice(start, end ?? undefined));
  }

  /** @param {string} key */
  async size(key) {
    return this.get(key).length;
  }

  /** @param {string} prefix */
  async remove(prefix) {
    const keys = [...this.kept.keys()].filter((key) => key.startsWith(prefix));
    for (const key of keys) this.kept.delete(key);
    return keys.length;
  }

  /** @param {string} key */
  get(key) {
    const data = this.kept.get(key);
    if (!data) throw noSuchKey(key);
    return data;
  }
}

/** @implements {Spool} */
export class OpfsSpool {
  /** @param {FileSystemDirectoryHandle} root */
  constructor(root) {
    this.root = root;
  }

  /**
   * @param {string} key
   * @param {Uint8Array} data
   */
  async write(key, data) {
    try {
      await this.within(key, true, (handle) => {
        handle.truncate(0);
        const written = handle.write(data, { at: 0 });
        if (written !== data.length) throw new DOMException("The write was cut.", "QuotaExceededError");
        handle.flush();
      });
    } catch (thrown) {
      await this.discard(key); // half a result must not be read as a whole one later
      throw refusedWrite(thrown);
    }
  }

  /**
   * @param {string} key
   * @param {Uint8Array} data
   */
  async append(key, data) {
    try {
      await this.within(key, true, (handle) => {
        const size = handle.getSize();
        try {
          const written = handle.write(data, { at: size });
          if (written !== data.length) throw new DOMException("The write was cut.", "QuotaExceededError");
          handle.flush();
        } catch (thrown) {
          handle.truncate(size); // half a record must not be read as a whole one later
          throw thrown;
        }
      });
    } catch (thrown) {
      throw refusedWrite(thrown);
    }
  }

  /**
   * @param {string} key
   * @param {number} start
   * @param {number | null} end
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  read(key, start, end) {
    return this.within(key, false, (handle) => {
      const size = handle.getSize();
      const stop = Math.min(end ?? size, size);
      const data = new Uint8Array(Math.max(stop - start, 0));
      handle.read(data, { at: start });
      return data;
    });
  }

  /** @param {string} key */
  size(key) {
    return this.within(key, false, (handle) => handle.getSize());
  }

  /** @param {string} prefix */
  async remove(prefix) {
    let removed = 0;
    const known = foldersOf(prefix);
    let folder = this.root;
    try {
      for (const name of known) folder = await folder.getDirectoryHandle(name);
    } catch (thrown) {
      if (thrown instanceof DOMException && thrown.name === "NotFoundError") return 0;
      throw thrown;
    }
    for (const path of await this.list(folder, known)) {
      if (!keyOf(path).startsWith(prefix)) continue;
      await this.discard(keyOf(path));
      removed += 1;
    }
    return removed;
  }

  /**
   * @template T
   * @param {string} key
   * @param {boolean} create
   * @param {(handle: AccessHandle) => T} work
   * @returns {Promise<T>}
   */
  async within(key, create, work) {
    const path = pathOf(key);
    const name = /** @type {string} */ (path.pop());
    /** @type {AccessHandle} */
    let handle;
    try {
      let folder = this.root;
      for (const segment of path) folder = await folder.getDirectoryHandle(segment, { create });
      const file = await folder.getFileHandle(name, { create });
      handle = await /** @type {any} */ (file).createSyncAccessHandle();
    } catch (thrown) {
      if (thrown instanceof DOMException && thrown.name === "NotFoundError") throw noSuchKey(key);
      throw thrown;
    }
    try {
      return work(handle);
    } finally {
      handle.close();
    }
  }

  /** @param {string} key */
  async discard(key) {
    const path = pathOf(key);
    const folders = [this.root];
    try {
      for (const segment of path.slice(0, -1)) folders.push(await folders[folders.length - 1].getDirectoryHandle(segment));
      // The file, then the folders that it leaves empty: the browser refuses to remove one that is not.
      for (const segment of path.reverse()) await /** @type {FileSystemDirectoryHandle} */ (folders.pop()).removeEntry(segment);
    } catch (thrown) {
      const expected = thrown instanceof DOMException && ["NotFoundError", "InvalidModificationError"].includes(thrown.name);
      if (!expected) throw thrown;
    }
  }

  /**
   * @param {FileSystemDirectoryHandle} folder
   * @param {string[]} above
   * @returns {Promise<string[][]>}
   */
  async list(folder, above) {
    const paths = [];
    for await (const [name, handle] of /** @type {any} */ (folder).entries()) {
      if (handle.kind === "file") paths.push([...above, name]);
      else paths.push(...(await this.list(handle, [...above, name])));
    }
    return paths;
  }
}
