// Text to words and terms: the twin of py_agent/search/tokens.py and query.py, which say why.

/** @typedef {import("./fold.js").Fold} Fold */
/** @typedef {{text: string, whole: string | null, parts: string[]}} Word */
/** @typedef {Word & {compound: boolean, name: boolean}} QueryWord */

const MAX_TERM_CHARS = 48;
const CJK = "\\u3005\\u3006\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const BASIC = "\\x80-\\u3004\\u3007-\\u303f\\u3100-\\u31ef\\u3200-\\u33ff\\u4dc0-\\u4dff\\ua000-\\uabff";
const OTHER = `${BASIC}\\ud7b0-\\uf8ff\\ufb00-\\u{1ffff}\\u{40000}-\\u{10ffff}`;
const W = "[0-9A-Za-z_\\x80-\\u{10ffff}]";
const WORD = new RegExp(`${W}+(?:(?:[-.:/@']|::|->)${W}+)*(?:\\+\\+|#(?!${W}))?`, "gu");
const PIECE = new RegExp(`[${CJK}]+|[0-9A-Za-z${OTHER}]+(?:\\+\\+|#)?`, "gu");
const CAMEL = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/u;
const CJK_RUN = new RegExp(`^[${CJK}]+$`, "u");
const VERSION = /^v?[0-9]+(?:\.[0-9]+)+$/u;
const ACRONYMS = /^[A-Z]{2,}s$/u;
const POSSESSIVE = new RegExp(`'s(?!${W})`, "gu");
const LETTERS = new RegExp(`^[a-z${BASIC}\\ud7b0-\\ud7ff\\ufb00-\\uffff]+$`, "u");
const BLANKS = /[ \t\n\r\f\v\xa0\u2000-\u200a\u202f\u3000]+/u;
const SHAPE = new RegExp(`[a-z0-9][A-Z]|_|[A-Z]{2}|[0-9]|[+#]|::|${W}\\.${W}`, "u");
const EDGE = new RegExp(W, "u");

export class Tokenizer {
  /** @param {Fold} table */
  constructor(table) {
    this.table = table;
  }

  /**
   * @param {string} text
   * @returns {Word[]}
   */
  words(text) {
    return (this.table.plain(text).match(WORD) ?? []).flatMap((raw) => this.#split(raw));
  }

  /**
   * @param {string} found a word as `WORD` finds it
   * @returns {Word[]}
   */
  #split(found) {
    const raw = found.replace(POSSESSIVE, "");
    if (VERSION.test(raw)) {
      const version = raw.toLowerCase().replace(/^v/, "");
      return [{ text: raw, whole: version, parts: [version] }];
    }
    /** @type {Word[]} */
    const split = [];
    /** @type {string[]} */
    let parts = [];
    const latin = [];
    for (let piece of raw.match(PIECE) ?? []) {
      if (CJK_RUN.test(piece)) {
        const chars = Array.from(this.table.lower(piece));
        const pairs = chars.slice(1).map((char, at) => chars[at] + char);
        split.push({ text: piece, whole: null, parts: pairs.length ? pairs : [chars.join("")] });
        continue;
      }
      if (ACRONYMS.test(piece)) piece = piece.slice(0, -1);
      latin.push(piece);
      parts.push(...piece.split(CAMEL).map((part) => stem(this.table.lower(part))));
    }
    parts = parts.filter((part) => fits(part));
    if (parts.length) {
      const whole = parts.length === 1 && latin.length === 1 ? parts[0] : this.table.lower(latin.join(""));
      split.unshift({ text: raw, whole: fits(whole) ? whole : null, parts });
    }
    return split;
  }
}

/**
 * @param {string} query
 * @param {Tokenizer} tokenizer
 * @param {Set<string>} stopWords
 * @returns {QueryWord[]}
 */
export function readQuery(query, tokenizer, stopWords) {
  /** @type {QueryWord[]} */
  const found = [];
  let starts = true;
  const { table } = tokenizer;
  for (const chunk of query.split(BLANKS)) {
    const words = tokenizer.words(chunk);
    for (const word of words) {
      const first = Array.from(word.text)[0];
      const capital = !starts && table.fold(first) !== table.plain(first);
      found.push({
        ...word,
        text: words.length === 1 ? asWritten(chunk, word.text, table) : word.text,
        compound: word.whole !== null && !(word.parts.length === 1 && word.parts[0] === word.whole),
        name: capital || SHAPE.test(word.text),
      });
      starts = false;
    }
    if (chunk) starts = ".?!:;".includes(chunk[chunk.length - 1]) || (starts && words.length === 0);
  }
  const content = found.filter(({ text }) => !isStopWord(text, stopWords));
  /** @type {Map<string, QueryWord>} */
  const kept = new Map();
  for (const word of content.length ? content : found) {
    const key = word.parts.join("\n");
    if (!kept.has(key)) kept.set(key, word);
  }
  return [...kept.values()];
}

/**
 * Whether a folded term is a word of letters: what people mistype, or begin to type.
 * @param {string} term
 */
export function isLetters(term) {
  return LETTERS.test(term);
}

/** @param {string} term */
function fits(term) {
  return term.length <= MAX_TERM_CHARS || Array.from(term).length <= MAX_TERM_CHARS;
}

/** @param {string} term */
function stem(term) {
  if (term.length < 4 || !/^[a-z]*s$/i.test(term)) return term;
  if (/(?:ss|us|is)$/.test(term)) return term;
  if (term.endsWith("ies") && term.length > 4) return `${term.slice(0, -3)}y`;
  return /(?:sses|xes|ches|shes|zzes)$/.test(term) ? term.slice(0, -2) : term.slice(0, -1);
}

/**
 * @param {string} text
 * @param {Set<string>} stopWords
 */
function isStopWord(text, stopWords) {
  return stopWords.has(text.toLowerCase().split("'")[0]) && !(text.length > 1 && text === text.toUpperCase());
}

/**
 * @param {string} chunk
 * @param {string} plain
 * @param {Fold} table
 */
function asWritten(chunk, plain, table) {
  const start = chunk.search(EDGE);
  for (let end = chunk.length; end > Math.max(0, start); end -= 1) {
    const part = chunk.slice(Math.max(0, start), end);
    if (table.plain(part) === plain) return part;
  }
  return plain;
}
