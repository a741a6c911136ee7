// Folding text by the table in the index: the twin of py_agent/search/fold.py, which says what the two steps are for.

const ASCII = /^[\x00-\x7f]*$/;
const VOICED = /[\u3046-\u309d\u30a6-\u30fd][\u3099\u309a]/g;
const JAMO = /[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/g;

/** @typedef {{chars: Record<string, string>, lower: Record<string, string>, pairs: Record<string, string>, blanks: [number, number][]}} FoldTable */

export class Fold {
  /** @param {FoldTable} table */
  constructor(table) {
    this.chars = turned(table.chars);
    this.lowered = turned(table.lower);
    this.pairs = new Map(Object.entries(table.pairs));
    this.blanks = table.blanks;
  }

  /** @param {string} text */
  plain(text) {
    if (ASCII.test(text)) return text;
    let plain = "";
    for (const char of text) plain += this.chars.get(char) ?? (this.#isBlank(char) ? " " : char);
    return plain.replace(VOICED, (pair) => this.pairs.get(pair) ?? pair).replace(JAMO, syllable);
  }

  /** @param {string} text plain */
  lower(text) {
    if (ASCII.test(text)) return text.toLowerCase();
    let lower = "";
    for (const char of text) lower += this.lowered.get(char) ?? (char <= "\x7f" ? char.toLowerCase() : char);
    return lower;
  }

  /** @param {string} text */
  fold(text) {
    return this.lower(this.plain(text));
  }

  /** @param {string} char */
  #isBlank(char) {
    const code = /** @type {number} */ (char.codePointAt(0));
    let low = 0;
    let high = this.blanks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.blanks[middle][0] <= code) low = middle + 1;
      else high = middle;
    }
    return low > 0 && code <= this.blanks[low - 1][1];
  }
}

/** @param {Record<string, string>} table what characters become -> those characters */
function turned(table) {
  /** @type {Map<string, string>} */
  const map = new Map();
  for (const [to, found] of Object.entries(table)) for (const char of found) map.set(char, to);
  return map;
}

/** @param {string} jamo */
function syllable(jamo) {
  const [first, vowel, last] = [jamo.charCodeAt(0), jamo.charCodeAt(1), jamo.length > 2 ? jamo.charCodeAt(2) : 0x11a7];
  return String.fromCharCode(0xac00 + ((first - 0x1100) * 21 + vowel - 0x1161) * 28 + last - 0x11a7);
}
