// Typos: the twin of py_agent/search/repair.py, which says how the shards are used.

import { compare } from "./directory.js";
import { isLetters } from "./tokens.js";

/** @typedef {{word: string, frequency: number}} Candidate */

const MIN_REPAIR_CHARS = 4;
const TWO_EDITS_CHARS = 7;
const MAX_REPAIR_CHARS = 32;
const MAX_TYPO_SHARDS = 8;
const ITSELF = "==";

class TypoShard {
  /** @param {Uint8Array} content */
  constructor(content) {
    /** @type {Map<string, string>} */
    this.entries = new Map();
    /** @type {Candidate[]} */
    this.words = [];
    for (const line of new TextDecoder().decode(content).split("\n")) {
      const [variant, entries] = line.split("\t");
      this.entries.set(variant, entries);
      if (entries.startsWith(ITSELF)) this.words.push({ word: variant, frequency: Number(entries[2]) });
    }
  }

  /**
   * @param {string} variant
   * @returns {Candidate[]}
   */
  get(variant) {
    return (this.entries.get(variant)?.split(" ") ?? []).map((entry) => {
      const at = Number.parseInt(entry[0], 36);
      const word = entry.startsWith(ITSELF) ? variant : variant.slice(0, at) + entry.slice(1, -1) + variant.slice(at);
      return { word, frequency: Number(entry.slice(-1)) };
    });
  }
}

/**
 * @param {string} term
 * @param {import("./directory.js").Directory} directory
 * @param {import("./shards.js").Shards} shards
 * @param {boolean} name
 * @returns {Promise<string | null>}
 */
export async function repair(term, directory, shards, name) {
  if (term.length < MIN_REPAIR_CHARS || term.length > MAX_REPAIR_CHARS || !isLetters(term)) return null;
  const limit = name || term.length < TWO_EDITS_CHARS ? 1 : 2;
  /** @type {Map<number, string[]>} */
  const byShard = new Map();
  const deletions = variants(term);
  await directory.typos.reach(shards, { keys: deletions });
  for (const variant of deletions) {
    const number = directory.typos.find(variant);
    if (number < 0) continue;
    const wanted = byShard.get(number);
    if (wanted) wanted.push(variant);
    else if (byShard.size < MAX_TYPO_SHARDS) byShard.set(number, [variant]);
  }
  /** @type {{word: string, rank: [number, number, number]} | null} */
  let best = null;
  for (const [number, wanted] of byShard) {
    const shard = await shards.load(directory.typos.name(number), (content) => new TypoShard(content));
    const candidates = wanted.flatMap((variant) => shard.get(variant));
    if (limit > 1) candidates.push(...shard.words.filter(({ word }) => Math.abs(word.length - term.length) <= limit));
    for (const { word, frequency } of candidates) {
      const edits = distance(term, word, limit);
      if (edits < 1 || edits > limit) continue;
      /** @type {[number, number, number]} */
      const rank = [edits, word[0] === term[0] ? 0 : 1, -frequency];
      const order = best ? rank[0] - best.rank[0] || rank[1] - best.rank[1] || rank[2] - best.rank[2] || compare(word, best.word) : -1;
      if (order < 0) best = { word, rank };
    }
  }
  return best?.word ?? null;
}

/** @param {string} term */
function variants(term) {
  return new Set([term, ...Array.from(term, (_, at) => term.slice(0, at) + term.slice(at + 1))]);
}

/**
 * Edits between two words, adjacent letters swapped counting as one (optimal string alignment).
 * @param {string} a
 * @param {string} b
 * @param {number} limit more are not told apart
 */
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [before, last] = [/** @type {number[]} */ ([]), Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}
