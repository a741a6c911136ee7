// The words of a query looked up and added up, in whole numbers: the twin of py_agent/search/lexical.py.

import { TermShard, compare, decode, listOf } from "./directory.js";
import { repair } from "./repair.js";
import { isLetters } from "./tokens.js";

/** @typedef {import("./tokens.js").QueryWord} QueryWord */
/** @typedef {import("./directory.js").Entry} Entry */
/** @typedef {{term: string, weight: number, entry: Entry}} Planned */
/** @typedef {{term: string, idf: number, scale: number, postings: import("./directory.js").Postings}} Term */
/** @typedef {{word: QueryWord, terms: Term[], reading: Record<string, string>}} Found */

const WHOLE = 1_000;
const PARTS = 350;
const SYNONYM = 700;
const COMPLETION = 500;
const MAX_COMPLETIONS = 8;
const MIN_PREFIX_CHARS = 2;
const HEADING_FIFTHS = 4;
const COVERED = 2_520;
const MAX_IMPACT = 255;

export class Lexicon {
  /**
   * @param {import("./directory.js").Directory} directory
   * @param {import("./shards.js").Shards} shards
   * @param {number} passages how many the index has
   */
  constructor(directory, shards, passages) {
    this.directory = directory;
    this.shards = shards;
    this.points = new Float64Array(passages);
    this.covered = new Uint32Array(passages);
  }

  /**
   * @param {QueryWord[]} words
   * @param {boolean} unfinished the last word may go on
   * @returns {Promise<Found[]>}
   */
  async find(words, unfinished) {
    const terms = words.flatMap((word) => this.#wanted(word));
    await this.directory.terms.reach(this.shards, { keys: terms });
    const wanted = new Set(terms.map((term) => this.directory.terms.find(term)));
    await Promise.all([...wanted].filter((number) => number >= 0).map((number) => this.#shard(number)));
    const found = [];
    for (const [number, word] of words.entries()) {
      /** @type {Record<string, string>} */
      const reading = {};
      found.push({ word, reading, plan: await this.#plan(word, reading, unfinished && number === words.length - 1) });
    }
    return Promise.all(
      found.map(async ({ word, reading, plan }) => ({ word, reading, terms: await Promise.all(plan.map((one) => this.#term(one))) })),
    );
  }

  /** @param {QueryWord} word */
  #wanted({ whole, parts }) {
    const terms = whole === null ? parts : [...parts, whole];
    return [...terms, ...terms.flatMap((term) => this.directory.synonyms.get(term) ?? [])];
  }

  /** @param {number} number */
  #shard(number) {
    return this.shards.load(this.directory.terms.name(number), (content) => new TermShard(content));
  }

  /** @param {string} term */
  async #entry(term) {
    await this.directory.terms.reach(this.shards, { keys: [term] });
    const number = this.directory.terms.find(term);
    return number < 0 ? undefined : (await this.#shard(number)).entries.get(term);
  }

  /**
   * @param {QueryWord} word
   * @param {Record<string, string>} reading
   * @param {boolean} unfinished
   */
  async #plan(word, reading, unfinished) {
    /** @type {Planned[]} */
    const plan = [];
    /** @type {(term: string, weight: number, repaired?: boolean) => Promise<boolean>} */
    const add = async (term, weight, repaired = false) => {
      let entry = await this.#entry(term);
      if (!entry && repaired) {
        const better = await repair(term, this.directory, this.shards, word.name);
        entry = better === null ? undefined : await this.#entry(better);
        if (better !== null && entry) {
          reading[term] = better;
          term = better;
        }
      }
      if (entry) plan.push({ term, weight, entry });
      for (const other of this.directory.synonyms.get(term) ?? []) {
        const same = await this.#entry(other);
        if (same) plan.push({ term: other, weight: Math.floor((weight * SYNONYM) / WHOLE), entry: same });
      }
      return entry !== undefined;
    };
    const { whole, parts, compound } = word;
    if (unfinished && whole !== null && !compound) plan.push(...(await this.#completions(whole)));
    if (whole !== null && (await add(whole, WHOLE))) {
      if (compound) for (const part of parts) await add(part, Math.floor(PARTS / parts.length));
    } else if (whole === null || compound) {
      const weight = Math.floor(Math.sqrt(Math.floor((WHOLE * WHOLE) / parts.length)));
      for (const part of parts) await add(part, weight, true);
    } else if (!plan.length) {
      await add(whole, WHOLE, true);
    }
    return plan;
  }

  /**
   * @param {string} prefix
   * @returns {Promise<Planned[]>}
   */
  async #completions(prefix) {
    const { terms } = this.directory;
    if (prefix.length < MIN_PREFIX_CHARS || !isLetters(prefix) || !terms.length) return [];
    await terms.reach(this.shards, { keys: [prefix] });
    const number = Math.max(0, terms.find(prefix));
    await terms.reach(this.shards, { numbers: [number, number + 1] });
    const shards = [await this.#shard(number)];
    if (number + 1 < terms.length && terms.starts(number + 1).startsWith(prefix)) shards.push(await this.#shard(number + 1));
    return shards
      .flatMap(({ entries }) => [...entries])
      .filter(([term]) => term.startsWith(prefix) && term !== prefix)
      .sort(([a, { idf: x }], [b, { idf: y }]) => x - y || compare(a, b))
      .slice(0, MAX_COMPLETIONS)
      .map(([term, entry]) => ({ term, weight: COMPLETION, entry }));
  }

  /**
   * @param {Planned} planned
   * @returns {Promise<Term>}
   */
  async #term({ term, weight, entry }) {
    const number = listOf(entry);
    await this.directory.lists.reach(this.shards, { numbers: number < 0 ? [] : [number] });
    const postings =
      number < 0 ? decode(entry.data) : await this.shards.load(this.directory.lists.name(number), (content) => decode(content));
    return { term, idf: entry.idf, scale: Math.max(1, Math.floor((weight * entry.idf) / WHOLE)), postings };
  }

  /**
   * The best `count` passages, best first; earlier ones first where scores are equal.
   * @param {Found[]} found
   * @param {number} count
   * @returns {[score: number, passage: number][]}
   */
  best(found, count) {
    const { points, covered } = this;
    /** @type {number[]} */
    const touched = [];
    for (const { terms } of found) {
      /** @type {Map<number, number>} */
      const heads = new Map();
      for (const { scale, postings } of terms) {
        const { passages, impacts, headings } = postings;
        for (let at = 0; at < passages.length; at += 1) {
          const passage = passages[at];
          if (points[passage] === 0) touched.push(passage);
          points[passage] += scale * impacts[at];
          if (headings.length && headings[at]) heads.set(passage, headings[at]);
        }
      }
      for (const [passage, terms] of heads) covered[passage] += Math.floor(COVERED / terms);
    }
    const heap = new Best(count);
    for (const passage of touched) {
      heap.add(points[passage] * (5 * COVERED + HEADING_FIFTHS * Math.min(COVERED, covered[passage])), passage);
      points[passage] = 0;
      covered[passage] = 0;
    }
    return heap.sorted();
  }
}

/**
 * The score of a passage, were there one, that holds every word as strongly as a passage can, all in its heading.
 * @param {Found[]} found
 */
export function potential(found) {
  const scales = found.flatMap(({ terms }) => terms.map(({ scale }) => scale));
  return scales.reduce((sum, scale) => sum + scale, 0) * MAX_IMPACT * (5 + HEADING_FIFTHS) * COVERED;
}

/**
 * Whether `passage` has the term.
 * @param {Term} term
 * @param {number} passage
 */
export function has({ postings: { passages } }, passage) {
  let low = 0;
  let high = passages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passages[middle] < passage) low = middle + 1;
    else high = middle;
  }
  return passages[low] === passage;
}

/** The greatest scores: a heap with the least of them on top. */
class Best {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    /** @type {[number, number][]} */
    this.heap = [];
  }

  /**
   * @param {number} score
   * @param {number} passage
   */
  add(score, passage) {
    const { heap } = this;
    if (heap.length < this.size) {
      heap.push([score, passage]);
      this.#up(heap.length - 1);
    } else if (heap.length && less(heap[0], [score, passage])) {
      heap[0] = [score, passage];
      this.#down(0);
    }
  }

  sorted() {
    return this.heap.sort((a, b) => (less(a, b) ? 1 : -1));
  }

  /** @param {number} at */
  #up(at) {
    const { heap } = this;
    for (let above = (at - 1) >> 1; at > 0 && less(heap[at], heap[above]); at = above, above = (at - 1) >> 1) {
      [heap[at], heap[above]] = [heap[above], heap[at]];
    }
  }

  /** @param {number} at */
  #down(at) {
    const { heap } = this;
    for (;;) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) if (below < heap.length && less(heap[below], heap[least])) least = below;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
}

/**
 * @param {[number, number]} a
 * @param {[number, number]} b
 */
function less(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] > b[1]);
}
