// LiteRT-LM fails with texts from deep inside C++ and WebGPU. What they mean for the harness is one of a few codes.

import { Failure, describe } from "./failure.js";

/** Order matters: an overflow's text also speaks of sizes and limits. */
const KINDS = [
  {
    code: "overflow",
    test: /too long|exceeds available state entries|exceeds? the (maximum|context)|maximum (kv-?cache|context|number of tokens)/i,
    means: "The prompt is longer than the model's context window",
    hint: "Ask a shorter question, or start a new conversation.",
  },
  {
    code: "lost",
    test: /device (is |was )?lost|mapAsync|external Instance reference|GPUBuffer|GPUDevice/i,
    means: "The browser lost the graphics processor",
    hint: "Ask again: the model is loaded afresh.",
  },
  {
    code: "out_of_memory",
    test: /out of memory|failed to allocate|allocation failed|bad_alloc|memory access out of bounds|Array buffer allocation|Cannot enlarge memory/i,
    means: "There is not enough memory for the model",
    hint: "Close other tabs and programs, or choose a smaller model or window.",
  },
  {
    code: "bad_call",
    test: /Failed to parse tool calls/i,
    means: "The model wrote a tool call that cannot be read",
    hint: "",
  },
];

/**
 * @param {unknown} thrown
 * @param {string} code    when nothing is recognised
 * @param {string} means
 * @param {string} hint
 * @returns {Failure}
 */
export function explain(thrown, code, means, hint) {
  if (thrown instanceof Failure) return thrown;
  const text = describe(thrown);
  const kind = KINDS.find(({ test }) => test.test(text)) ?? { code, means, hint };
  return new Failure(kind.code, `${kind.means} (${text.slice(0, 400)}).`, kind.hint);
}
