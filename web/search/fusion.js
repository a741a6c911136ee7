// Words and meaning put together: the twin of py_agent/search/fusion.py.

import { CodeShard, WordShard, queryCode } from "./semantic.js";

export const WEIGHT = 0.7;
export const NAME_WEIGHT = 0.3;
export const CANDIDATES = 100;
export const STRONG = 0.4;

/** @typedef {[score: number, passage: number]} Scored */
/** @typedef {{passage: number, score: number}} Ranked */

export class Meaning {
  /**
   * @param {import("./semantic.js").SemanticInfo} info
   * @param {import("./directory.js").Directory} directory
   * @param {import("./shards.js").Shards} shards
   */
  constructor(info, directory, shards) {
    this.info = info;
    this.directory = directory;
    this.shards = shards;
  }

  /**
   * The passages most like the query, best first; none if no word has a row.
   * @param {import("./lexical.js").Found[]} found
   * @returns {Promise<Scored[]>}
   */
  async likeness(found) {
    const { info, directory, shards } = this;
    const { bits } = info;
    const terms = new Set(found.flatMap(({ word, reading }) => word.parts.map((part) => reading[part] ?? part)));
    await directory.words.reach(shards, { keys: terms });
    const rows = await Promise.all(
      [...terms].map(async (term) => {
        const number = directory.words.find(term);
        if (number < 0) return undefined;
        const shard = await shards.load(directory.words.name(number), (content) => new WordShard(content, bits));
        return shard.rows.get(term);
      }),
    );
    const code = queryCode(rows.filter((row) => row !== undefined), bits);
    if (!code) return [];
    const clusters = info.nearest(code);
    await directory.codes.reach(shards, { numbers: clusters });
    const near = clusters.map((cluster) => directory.codes.name(cluster));
    const codes = await Promise.all(near.map((name) => shards.load(name, (content) => new CodeShard(content, bits))));
    return codes
      .flatMap((shard) => shard.likeness(code, bits))
      .sort(([a, x], [b, y]) => b - a || x - y)
      .slice(0, CANDIDATES);
  }
}

/**
 * @param {Scored[]} lexical best first
 * @param {Scored[]} likeness best first
 * @param {number} bits
 * @param {number} weight of meaning
 * @param {number} whole score by words that counts as 1 where the best has less
 * @returns {Ranked[]} best first
 */
export function fuse(lexical, likeness, bits, weight, whole) {
  const most = lexical.length ? Math.max(lexical[0][0], whole) : 1;
  const words = new Map(lexical.map(([score, passage]) => [passage, score / most]));
  const half = Math.max(1, bits >> 1);
  const last = likeness.at(-1);
  const gained = meaningOf(likeness, last ? Math.max(half, last[0]) : half, half, weight);
  const meaning = likeness.length && !gained.size ? meaningOf(likeness, half, half, weight) : gained;
  return [...new Set([...words.keys(), ...meaning.keys()])]
    .map((passage) => ({ passage, score: (words.get(passage) ?? 0) + (meaning.get(passage) ?? 0) }))
    .sort((a, b) => b.score - a.score || a.passage - b.passage);
}

/**
 * @param {Scored[]} likeness
 * @param {number} least
 * @param {number} half
 * @param {number} weight
 */
function meaningOf(likeness, least, half, weight) {
  return new Map(likeness.filter(([like]) => like > least).map(([like, passage]) => [passage, (weight * (like - least)) / half]));
}
