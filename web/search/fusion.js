// Words and meaning put together: the twin of py_agent/search/fusion.py.

import { CodeShard, WordShard, queryCode } from "./semantic.js";

export const WEIGHT = 0.7;
export const NAME_WEIGHT = 0.3;
export const CANDIDATES = 100;

/** @typedef {[score: number, passage: number]} Scored */

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
    const near = info.nearest(code).map((cluster) => directory.codes.name(cluster));
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
 * @returns {Scored[]} best first
 */
export function fuse(lexical, likeness, bits, weight) {
  /** @type {Map<number, number>} */
  const scores = new Map();
  const most = lexical.length ? lexical[0][0] : 1;
  for (const [score, passage] of lexical) scores.set(passage, score / most);
  const chance = bits >> 1;
  const spread = likeness.length ? Math.max(1, likeness[0][0] - chance) : 1;
  for (const [like, passage] of likeness) {
    if (like > chance) scores.set(passage, (scores.get(passage) ?? 0) + weight * ((like - chance) / spread));
  }
  return Array.from(scores, ([passage, score]) => /** @type {Scored} */ ([score, passage])).sort(([a, x], [b, y]) => b - a || x - y);
}
