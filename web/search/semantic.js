// Meaning without a model in the page: the twin of py_agent/search/semantic.py, which states the arithmetic.

/** @typedef {{scale: number, nibbles: Uint8Array}} Row */

const BITS_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let rest = byte; rest; rest >>= 1) bits += rest & 1;
  return bits;
});

export class SemanticInfo {
  /** @param {{bits: number, probes: number, centroids: string}} data */
  constructor({ bits, probes, centroids }) {
    this.bits = bits;
    this.probes = probes;
    this.centroids = Uint8Array.from(atob(centroids), (char) => char.charCodeAt(0));
    if (!(bits > 0) || bits % 8 || this.centroids.length % (bits / 8)) throw new Error("the vectors' dimensions do not fit");
  }

  /**
   * The clusters that a query looks into, nearest first.
   * @param {Uint8Array} code
   */
  nearest(code) {
    const width = this.bits / 8;
    const apart = Array.from({ length: this.centroids.length / width }, (_, at) => [differing(code, this.centroids, at * width), at]);
    return apart.sort(([a, x], [b, y]) => a - b || x - y).slice(0, this.probes).map(([, at]) => at);
  }
}

export class WordShard {
  /**
   * @param {Uint8Array<ArrayBuffer>} content
   * @param {number} bits
   */
  constructor(content, bits) {
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const [count, size] = [view.getUint32(0, true), view.getUint32(4, true)];
    const words = new TextDecoder().decode(content.subarray(8, 8 + size)).split("\n");
    const width = 2 + bits / 2;
    const rows = content.subarray(8 + size);
    if (words.length !== count || rows.length !== count * width) throw new Error("a word shard that does not fit its header");
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    for (const [at, word] of words.entries()) {
      const row = rows.subarray(at * width, (at + 1) * width);
      this.rows.set(word, { scale: row[0] | (row[1] << 8), nibbles: row.subarray(2) });
    }
  }
}

export class CodeShard {
  /**
   * @param {Uint8Array<ArrayBuffer>} content
   * @param {number} bits
   */
  constructor(content, bits) {
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    const count = view.getUint32(0, true);
    this.passages = Uint32Array.from({ length: count }, (_, at) => view.getUint32(4 + 4 * at, true));
    this.codes = content.subarray(4 + 4 * count);
    if (this.codes.length !== (count * bits) / 8) throw new Error("a code shard that does not fit its header");
  }

  /**
   * @param {Uint8Array} code
   * @param {number} bits
   * @returns {[likeness: number, passage: number][]}
   */
  likeness(code, bits) {
    return Array.from(this.passages, (passage, at) => [bits - differing(code, this.codes, (at * bits) / 8), passage]);
  }
}

/**
 * @param {Uint8Array} code
 * @param {Uint8Array} codes
 * @param {number} start
 */
function differing(code, codes, start) {
  let bits = 0;
  for (let at = 0; at < code.length; at += 1) bits += BITS_OF[code[at] ^ codes[start + at]];
  return bits;
}

/**
 * The code of a query whose words have `rows`; null: there are none.
 * @param {Row[]} rows
 * @param {number} bits
 */
export function queryCode(rows, bits) {
  if (!rows.length) return null;
  const sums = new Int32Array(bits);
  for (const { scale, nibbles } of rows) {
    for (let at = 0; at < nibbles.length; at += 1) {
      sums[2 * at] += scale * ((nibbles[at] & 15) - 8);
      sums[2 * at + 1] += scale * ((nibbles[at] >> 4) - 8);
    }
  }
  const code = new Uint8Array(bits / 8);
  for (let bit = 0; bit < bits; bit += 1) if (sums[bit] > 0) code[bit >> 3] |= 128 >> (bit & 7);
  return code;
}
