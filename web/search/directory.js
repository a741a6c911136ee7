// The directory of an index and what lies in its shards: the twin of py_agent/search/directory.py, postings.py, texts.py.

import { Fold } from "./fold.js";
import { SemanticInfo } from "./semantic.js";

const HASH_CHARS = 12;
const WIDTH = 0b0011;
const HEADINGS = 0b0100;
const LONG = 0b1000;

/** @typedef {{idf: number, data: Uint8Array}} Entry */
/** @typedef {{passages: Uint32Array, impacts: Uint8Array, headings: Uint8Array}} Postings */
/** @typedef {{id: string, page: string, anchor: string, url: string, title: string, path: string[], text: string, address: string, facets: Record<string, string>, previous: string, next: string}} Passage */

/**
 * Compares as Python does, by characters: JavaScript's own `<` puts characters beyond the basic plane before some in it.
 * @param {string} a
 * @param {string} b
 */
export function compare(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) {
      const [highX, highY] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
      return highX === highY ? x - y : highX ? 1 : -1;
    }
  }
  return a.length - b.length;
}

export class ShardList {
  /**
   * @param {string} kind
   * @param {{first?: any[], names: string, each?: number, count?: number} | undefined} data
   */
  constructor(kind, data) {
    this.kind = kind;
    this.first = data?.first ?? [];
    this.names = data?.names ?? "";
    this.each = data?.each ?? 0;
    const entries = this.names.length / HASH_CHARS;
    this.length = this.each ? (data?.count ?? 0) : entries;
    const fits = !this.each || entries === Math.ceil(this.length / this.each);
    if (!Number.isInteger(entries) || (this.first.length && this.first.length !== entries) || !fits) {
      throw new Error(`the list of ${kind} does not fit its names`);
    }
    /** @type {Map<number, ShardList>} */
    this.catalogs = new Map();
  }

  /**
   * Loads the catalogs that `find` needs for `keys`, and the other methods for `numbers`.
   * @param {import("./shards.js").Shards} shards
   * @param {{keys?: Iterable<any>, numbers?: Iterable<number>}} wanted
   */
  async reach(shards, { keys = [], numbers = [] }) {
    if (!this.each) return;
    const wanted = new Set(Array.from(keys, (key) => this.#at(key)));
    for (const number of numbers) if (number < this.length) wanted.add(Math.floor(number / this.each));
    await Promise.all(
      [...wanted].map(async (at) => {
        if (at < 0 || this.catalogs.has(at)) return;
        this.catalogs.set(at, await shards.load(this.#entry("catalogs", at), (content) => this.#catalog(at, content)));
      }),
    );
  }

  /**
   * @param {number} at
   * @param {Uint8Array} content
   */
  #catalog(at, content) {
    const catalog = new ShardList(this.kind, JSON.parse(new TextDecoder().decode(content)));
    if (catalog.length !== Math.min(this.each, this.length - at * this.each)) {
      throw new Error(`a catalog of ${this.kind} of another length`);
    }
    return catalog;
  }

  /** @param {number} number */
  #below(number) {
    const catalog = this.catalogs.get(Math.floor(number / this.each));
    if (!catalog) throw new Error(`the catalog of ${this.kind} shard ${number} is not loaded`);
    return catalog;
  }

  /**
   * @param {number} number
   * @returns {string}
   */
  name(number) {
    if (!(number >= 0 && number < this.length)) throw new RangeError(`there is no ${this.kind} shard ${number}`);
    return this.each ? this.#below(number).name(number % this.each) : this.#entry(this.kind, number);
  }

  /**
   * @param {string} kind
   * @param {number} at
   */
  #entry(kind, at) {
    return `${kind}-${this.names.slice(at * HASH_CHARS, (at + 1) * HASH_CHARS)}.bin`;
  }

  /**
   * The first thing in shard `number`.
   * @param {number} number
   * @returns {any}
   */
  starts(number) {
    return this.each ? this.#below(number).starts(number % this.each) : this.first[number];
  }

  /**
   * The number of the shard that holds `key` if any does, else -1.
   * @param {any} key
   * @returns {number}
   */
  find(key) {
    const at = this.#at(key);
    if (at < 0 || !this.each) return at;
    const below = this.#below(at * this.each).find(key);
    return below < 0 ? below : at * this.each + below;
  }

  /** @param {any} key */
  #at(key) {
    let low = 0;
    let high = this.first.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = typeof key === "string" ? compare(this.first[middle], key) : this.first[middle] - key;
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

export class Directory {
  /** @param {Uint8Array} content */
  constructor(content) {
    const parsed = JSON.parse(new TextDecoder().decode(content));
    this.fold = new Fold(parsed.fold);
    this.stopWords = new Set(parsed.stop);
    /** @type {Map<string, string[]>} */
    this.synonyms = new Map(Object.entries(parsed.synonyms));
    const { shards } = parsed;
    this.terms = new ShardList("terms", shards.terms);
    this.lists = new ShardList("lists", shards.lists);
    this.typos = new ShardList("typos", shards.typos);
    this.texts = new ShardList("texts", shards.texts);
    this.words = new ShardList("words", shards.words);
    this.codes = new ShardList("codes", shards.codes);
    this.semantic = parsed.semantic ? new SemanticInfo(parsed.semantic) : null;
    this.same = Uint8Array.from(atob(parsed.same), (char) => char.charCodeAt(0));
    /** @type {[number, number][]} */
    this.notes = parsed.notes;
  }

  /** @param {number} passage */
  place(passage) {
    let first = passage;
    while (first > 0 && (this.same[first >> 3] >> (first & 7)) & 1) first -= 1;
    return first;
  }

  /** @param {number} passage */
  isNotes(passage) {
    return this.notes.some(([first, count]) => passage >= first && passage < first + count);
  }
}

export class TermShard {
  /** @param {Uint8Array<ArrayBuffer>} content */
  constructor(content) {
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const count = view.getUint32(0, true);
    const size = view.getUint32(4, true);
    const start = 12 + 6 * count;
    this.terms = new TextDecoder().decode(content.subarray(start, start + size)).split("\n");
    const slices = content.subarray(start + size);
    if (this.terms.length !== count || view.getUint32(8 + 4 * count, true) !== slices.length) {
      throw new Error("a term shard that does not fit its header");
    }
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    for (const [number, term] of this.terms.entries()) {
      const from = view.getUint32(8 + 4 * number, true);
      const data = slices.subarray(from, view.getUint32(12 + 4 * number, true));
      this.entries.set(term, { idf: view.getUint16(12 + 4 * count + 2 * number, true), data });
    }
  }
}

/**
 * The list shard that holds an entry's passages, or -1 if the entry does.
 * @param {Entry} entry
 */
export function listOf({ data }) {
  return data[0] & LONG ? new DataView(data.buffer, data.byteOffset).getUint32(1, true) : -1;
}

/**
 * @param {Uint8Array} data a slice that is not long
 * @returns {Postings}
 */
export function decode(data) {
  const size = 1 << (data[0] & WIDTH);
  const columns = data[0] & HEADINGS ? 2 : 1;
  const count = (data.length - 4 + size) / (size + columns);
  if (!Number.isInteger(count) || count < 1 || size > 4) throw new Error("a slice that does not fit its flags");
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const passages = new Uint32Array(count);
  let passage = data[1] | (data[2] << 8) | (data[3] << 16);
  passages[0] = passage;
  for (let number = 1, at = 4; number < count; number += 1, at += size) {
    passage += size === 1 ? data[at] : size === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
    passages[number] = passage;
  }
  const end = 4 + (count - 1) * size;
  return { passages, impacts: data.subarray(end, end + count), headings: data.subarray(end + count) };
}

export class TextShard {
  /**
   * @param {Uint8Array} content
   * @param {number} first number of its first passage
   */
  constructor(content, first) {
    const { pages, rows } = JSON.parse(new TextDecoder().decode(content));
    this.pages = pages;
    this.rows = rows;
    this.first = first;
  }

  /**
   * @param {number} number
   * @returns {Passage}
   */
  get(number) {
    const [at, anchor, path, text, ending] = this.rows[number - this.first];
    const [page, title, url, start, count, address = "", facets = {}] = this.pages[at];
    const fragment = ending ?? fragmentOf(anchor);
    return {
      id: `p${number + 1}`,
      page,
      anchor,
      url: fragment ? `${url}#${fragment}` : url,
      title,
      path,
      text,
      address,
      facets,
      previous: number > start ? `p${number}` : "",
      next: number + 1 < start + count ? `p${number + 2}` : "",
    };
  }
}

/** @param {string} anchor */
function fragmentOf(anchor) {
  return encodeURIComponent(anchor).replace(/%(?:2F|3F|3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent);
}
