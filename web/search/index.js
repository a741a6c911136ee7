// Instant search, before Python is there: reads the same index as py_agent/search and ranks alike (tests compare them).

import { PyAgentError } from "../errors.js";
import { Directory, TextShard } from "./directory.js";
import { CANDIDATES, Meaning, NAME_WEIGHT, WEIGHT, fuse } from "./fusion.js";
import { Lexicon, holds } from "./lexical.js";
import { Shards, damaged, fetchFile } from "./shards.js";
import { Tokenizer, readQuery } from "./tokens.js";

/** @typedef {import("./directory.js").Passage} Passage */
/** @typedef {{query: string, hits: {passage: Passage, score: number}[], missing: string[], repaired: Record<string, string>}} SearchResult */

const FORMAT = 2;
const TOKENIZER = "identifiers-2";
const MAX_NOTES = 2;
const SPARE_CANDIDATES = 20;

export class SearchIndex {
  /**
   * @param {any} manifest
   * @param {Directory} directory
   * @param {Shards} shards
   */
  constructor(manifest, directory, shards) {
    this.manifest = manifest;
    this.directory = directory;
    this.shards = shards;
    this.tokenizer = new Tokenizer(directory.fold);
    this.lexicon = new Lexicon(directory, shards, manifest.passages);
    this.meaning = directory.semantic && new Meaning(directory.semantic, directory, shards);
  }

  /**
   * @param {string} url the manifest's
   * @param {(url: string, options?: RequestInit) => Promise<Response>} [get]
   * @throws {PyAgentError} `missing_index`, `damaged`, `format`
   */
  static async open(url, get = (url, options) => fetch(url, options)) {
    let manifest;
    try {
      manifest = JSON.parse(new TextDecoder().decode(await fetchFile(get, url, { cache: "no-cache" })));
    } catch (thrown) {
      throw thrown instanceof PyAgentError ? thrown : damaged(`${url} is not the manifest of an index.`);
    }
    if (manifest?.format !== FORMAT || manifest.tokenizer !== TOKENIZER) {
      throw new PyAgentError("format", `The index at ${url} is of another version of py-agent.`, "Build and deploy both again.");
    }
    if (!/^directory-[0-9a-f]{12}\.bin$/.test(manifest.directory)) throw damaged(`${url} is not the manifest of an index.`);
    const shards = new Shards(url, get);
    return new SearchIndex(manifest, await shards.load(manifest.directory, (content) => new Directory(content)), shards);
  }

  /**
   * @param {string} query
   * @param {number} [top]
   * @param {{unfinished?: boolean}} [options] `unfinished`: the last word may go on
   * @returns {Promise<SearchResult>}
   */
  async search(query, top = 5, { unfinished = false } = {}) {
    const words = readQuery(query, this.tokenizer, this.directory.stopWords);
    const last = words.at(-1);
    const found = await this.lexicon.find(words, unfinished && last !== undefined && query.endsWith(last.text));
    const hits = await this.#rank(found, top);
    const numbers = hits.map(({ number }) => number);
    const missing = found.filter((one) => !numbers.some((number) => holds(one, number))).map(({ word }) => word.text);
    return {
      query,
      hits: hits.map(({ passage, score }) => ({ passage, score })),
      missing: [...new Set(missing)],
      repaired: Object.assign({}, ...found.map(({ reading }) => reading)),
    };
  }

  /**
   * @param {import("./lexical.js").Found[]} found
   * @param {number} top
   */
  async #rank(found, top) {
    const likeness = this.meaning ? await this.meaning.likeness(found) : [];
    const lexical = this.lexicon.best(found, Math.max(CANDIDATES, top * SPARE_CANDIDATES));
    const weight = found.some(({ word }) => word.name) ? NAME_WEIGHT : WEIGHT;
    const waiting = fuse(lexical, likeness, this.meaning?.info.bits ?? 0, weight);
    const best = waiting[0]?.[0] ?? 1;
    const chosen = [];
    const addresses = new Set();
    const places = new Set();
    let notes = 0;
    while (waiting.length && chosen.length < top) {
      const batch = [];
      while (waiting.length && chosen.length + batch.length < top) {
        const [score, number] = /** @type {[number, number]} */ (waiting.shift());
        const place = this.directory.place(number);
        const noted = this.directory.isNotes(number);
        if (places.has(place) || (noted && notes === MAX_NOTES)) continue;
        places.add(place);
        notes += Number(noted);
        batch.push({ score, number });
      }
      const passages = await Promise.all(batch.map(({ number }) => this.#passage(number)));
      for (const [at, passage] of passages.entries()) {
        if (addresses.has(passage.url)) continue;
        addresses.add(passage.url);
        chosen.push({ passage, score: batch[at].score / best, number: batch[at].number });
      }
    }
    return chosen;
  }

  /** @param {number} number */
  async #passage(number) {
    if (number >= this.manifest.passages) throw damaged(`The index is damaged: a word names passage p${number + 1}, which is not there.`);
    const shard = this.directory.texts.find(number);
    const name = this.directory.texts.name(shard);
    const texts = await this.shards.load(name, (content) => new TextShard(content, this.directory.texts.first[shard]));
    try {
      return texts.get(number);
    } catch {
      throw damaged(`${name} is damaged: passage p${number + 1} cannot be read.`);
    }
  }
}
