// Shards of the index: fetched when a query needs them, checked, unpacked, and kept. The twin of py_agent/search/shards.py.

import { PyAgentError } from "../errors.js";

const HASH_CHARS = 12;
/** Unpacked bytes that stay in memory; the longest unused go first. */
const CACHE_BYTES = 24_000_000;
const REBUILD = "Build the index again with `py-agent index SITE --out INDEX` and deploy the whole folder.";
const STALE = "The site may have been updated since this page was opened: reload it.";

export class Shards {
  /**
   * @param {string} base address of the manifest
   * @param {(url: string, options?: RequestInit) => Promise<Response>} [get]
   */
  constructor(base, get = (url, options) => fetch(url, options)) {
    this.base = base;
    this.get = get;
    /** @type {Map<string, {size: number, value: Promise<any>}>} */
    this.kept = new Map();
    this.size = 0;
  }

  /**
   * The parsed content of the file `name`; a failed one is fetched again when it is asked for again.
   * @template T
   * @param {string} name
   * @param {(content: Uint8Array<ArrayBuffer>) => T} parse
   * @returns {Promise<T>}
   */
  load(name, parse) {
    const known = this.kept.get(name);
    if (known) {
      this.kept.delete(name);
      this.kept.set(name, known);
      return known.value;
    }
    const entry = { size: 0, value: this.#load(name, parse, (size) => this.#grow(entry, size)) };
    entry.value.catch(() => this.kept.delete(name));
    this.kept.set(name, entry);
    return entry.value;
  }

  /**
   * @param {{size: number}} entry
   * @param {number} size
   */
  #grow(entry, size) {
    entry.size = size;
    this.size += size;
    for (const [name, { size }] of this.kept) {
      if (this.size <= CACHE_BYTES) break;
      this.kept.delete(name);
      this.size -= size;
    }
  }

  /**
   * @template T
   * @param {string} name
   * @param {(content: Uint8Array<ArrayBuffer>) => T} parse
   * @param {(size: number) => void} sized
   * @returns {Promise<T>}
   */
  async #load(name, parse, sized) {
    const content = await unpack(name, await fetchFile(this.get, new URL(name, this.base).href));
    let value;
    try {
      value = parse(content);
    } catch (thrown) {
      throw damaged(`${name} is damaged: ${thrown instanceof Error ? thrown.message : thrown}.`);
    }
    sized(content.byteLength);
    return value;
  }
}

/**
 * @param {(url: string, options?: RequestInit) => Promise<Response>} get
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function fetchFile(get, url, options) {
  let response;
  try {
    response = await get(url, options);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PyAgentError("missing_index", `Cannot reach a part of the search index at ${url} (${why}).`, "Is the network up?");
  }
  if (!response.ok) {
    throw new PyAgentError("missing_index", `A part of the search index is missing: ${url} answers with status ${response.status}.`, STALE);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} data
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function unpack(name, data) {
  let content = data;
  if (data[0] === 0x1f && data[1] === 0x8b) {
    try {
      const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
      content = new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw damaged(`${name} is damaged: it cannot be unpacked.`);
    }
  }
  // Without a secure context there is no hash function; then the packing's own checksum must do.
  if (globalThis.crypto?.subtle) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    const hex = Array.from(digest.subarray(0, HASH_CHARS / 2), (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (hex !== name.slice(-HASH_CHARS - 4, -4)) throw damaged(`${name} is stale or damaged: its content is not what its name says.`);
  }
  return content;
}

/** @param {string} message */
export function damaged(message) {
  return new PyAgentError("damaged", message, REBUILD);
}
