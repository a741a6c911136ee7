// Instant search, before Python is there: reads the same index as py_agent/search and ranks alike (tests compare them).

import { PyAgentError } from "../errors.js";
import { Directory, TextShard } from "./directory.js";
import { confidence, missingWords } from "./evidence.js";
import { CANDIDATES, Meaning, NAME_WEIGHT, STRONG, WEIGHT, fuse } from "./fusion.js";
import { Lexicon, potential } from "./lexical.js";
import { Shards, damaged, fetchFile } from "./shards.js";
import { Tokenizer, readQuery } from "./tokens.js";

/** @typedef {import("./directory.js").Passage} Passage */
/** @typedef {{query: string, hits: {passage: Passage, score: number}[], missing: string[], repaired: Record<string, string>}} SearchResult */

const FORMAT = 2;
const TOKENIZER = "identifiers-2";
const MAX_NOTES = 2;
const SPARE_CANDIDATES = 20;
const SCORE_STEPS = 1_000_000;

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
    const { ranked, alike } = await this.#rank(found, top);
    const numbers = ranked.map(({ passage }) => passage);
    const sure = numbers.length ? confidence(found, numbers[0], this.manifest.passages, alike) : 0;
    const passages = await Promise.all(numbers.map((number) => this.#passage(number)));
    return {
      query,
      hits: ranked.map(({ score }, at) => ({ passage: passages[at], score: rounded((sure * score) / ranked[0].score) })),
      missing: missingWords(found, numbers),
      repaired: Object.assign({}, ...found.map(({ reading }) => reading)),
    };
  }

  /**
   * The best passages, one an address, and how much the first means what the query means.
   * @param {import("./lexical.js").Found[]} found
   * @param {number} top
   */
  async #rank(found, top) {
    const likeness = this.meaning ? await this.meaning.likeness(found) : [];
    const lexical = this.lexicon.best(found, Math.max(CANDIDATES, top * SPARE_CANDIDATES));
    const weight = found.some(({ word }) => word.name) ? NAME_WEIGHT : WEIGHT;
    const bits = this.meaning?.info.bits ?? 0;
    const waiting = fuse(lexical, likeness, bits, weight, this.meaning ? STRONG * potential(found) : 0);
    /** @type {import("./fusion.js").Ranked[]} */
    const chosen = [];
    const addresses = new Set();
    const places = new Set();
    let notes = 0;
    while (waiting.length && chosen.length < top) {
      const batch = [];
      while (waiting.length && chosen.length + batch.length < top) {
        const one = /** @type {import("./fusion.js").Ranked} */ (waiting.shift());
        const place = this.directory.place(one.passage);
        const noted = this.directory.isNotes(one.passage);
        if (places.has(place) || (noted && notes === MAX_NOTES)) continue;
        places.add(place);
        notes += Number(noted);
        batch.push(one);
      }
      const passages = await Promise.all(batch.map(({ passage }) => this.#passage(passage)));
      for (const [at, { url }] of passages.entries()) {
        if (addresses.has(url)) continue;
        addresses.add(url);
        chosen.push(batch[at]);
      }
    }
    if (!this.meaning || !chosen.length) return { ranked: chosen, alike: null };
    const half = bits >> 1;
    const like = likeness.find(([, passage]) => passage === chosen[0].passage)?.[0] ?? half;
    return { ranked: chosen, alike: Math.max(0, (like - half) / half) };
  }

  /** @param {number} number */
  async #passage(number) {
    if (number >= this.manifest.passages) throw damaged(`The index is damaged: a word names passage p${number + 1}, which is not there.`);
    await this.directory.texts.reach(this.shards, { keys: [number] });
    const shard = this.directory.texts.find(number);
    const name = this.directory.texts.name(shard);
    const texts = await this.shards.load(name, (content) => new TextShard(content, this.directory.texts.starts(shard)));
    try {
      return texts.get(number);
    } catch {
      throw damaged(`${name} is damaged: passage p${number + 1} cannot be read.`);
    }
  }
}

/** @param {number} score */
function rounded(score) {
  return Math.floor(score * SCORE_STEPS + 0.5) / SCORE_STEPS;
}
