// How well what was found answers the query: the twin of py_agent/search/evidence.py, which gives the reasons.

import { has } from "./lexical.js";

/** @typedef {import("./lexical.js").Found} Found */

const IDF_SCALE = 1_000;
const LEAST_SURE = 0.1;

/**
 * The words of the query that none of `passages` holds.
 * @param {Found[]} found
 * @param {number[]} passages
 */
export function missingWords(found, passages) {
  const missing = found.filter(({ terms }) => !passages.some((passage) => terms.some((term) => has(term, passage))));
  return [...new Set(missing.map(({ word }) => word.text))];
}

/**
 * @param {Found[]} found
 * @param {number} passage the best one
 * @param {number} passages of the index
 * @param {number | null} alike 0 (by chance) to 1; null: nobody knows
 */
export function confidence(found, passage, passages, alike) {
  const rarest = Math.round(IDF_SCALE * Math.log(1 + (passages - 0.5) / 1.5)) || 1;
  const lack = found.length ? Math.max(...found.map((one) => lackOf(one, passage, rarest))) : rarest;
  const sure = 1 - (1 - LEAST_SURE) * Math.min(1, lack / rarest);
  return alike === null ? sure : (sure + alike) / 2;
}

/**
 * @param {Found} found
 * @param {number} passage
 * @param {number} rarest
 */
function lackOf({ word, terms, reading }, passage, rarest) {
  const known = new Map(terms.map((term) => [term.term, term]));
  const own = new Set((word.whole ? [...word.parts, word.whole] : word.parts).map((term) => reading[term] ?? term));
  const whole = known.get(word.whole ?? "");
  if (whole && has(whole, passage)) return 0;
  for (const [name, term] of known) if (!own.has(name) && has(term, passage)) return 0;
  const lacks = word.parts.map((part) => {
    const term = known.get(reading[part] ?? part);
    if (!term) return rarest;
    return has(term, passage) ? 0 : term.idf;
  });
  return word.whole === null ? lacks.reduce((sum, lack) => sum + lack, 0) / lacks.length : Math.max(...lacks);
}
