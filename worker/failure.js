// A failure that can cross a port: what happened and what it means, what to do next, and a stable code.

/** @typedef {import("./protocol.js").WireError} WireError */

export class Failure extends Error {
  /**
   * @param {string} code    stable snake_case name
   * @param {string} message what happened and what it means
   * @param {string} [hint]  what to do next
   */
  constructor(code, message, hint = "") {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.hint = hint;
  }
}

/**
 * The wire form of anything that was thrown. What is not a `Failure` keeps its text under `code`.
 * @param {unknown} thrown
 * @param {string} [code]
 * @param {string} [hint]
 * @returns {WireError}
 */
export function toWire(thrown, code = "internal", hint = "Reload the page. If it happens again, report it with this text.") {
  if (thrown instanceof Failure) return { code: thrown.code, message: thrown.message, hint: thrown.hint };
  return { code, message: describe(thrown), hint };
}

/**
 * One line of text for anything that was thrown.
 * @param {unknown} thrown
 * @returns {string}
 */
export function describe(thrown) {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return String(thrown);
}
