// The one voice of the widget for screen readers. The conversation itself is silent: a live region that grows word by
// word makes a reader's speech stutter.
import { h } from "./dom.js";
import { PHASES, TEXT } from "./strings.js";

/** Longer answers are only begun: the reader goes to the message for the rest. */
const MAX_SPOKEN_CHARS = 600;

export class Announcer {
  /** @type {Set<string>} phases already told in this turn: a turn that searches five times says so once */
  #told = new Set();

  constructor() {
    this.element = h("div", { class: "unseen", role: "status", "aria-live": "polite", "aria-atomic": "true" });
  }

  /** @param {string} text */
  say(text) {
    if (text !== this.element.textContent) this.element.textContent = text;
  }

  turnStarts() {
    this.#told.clear();
    this.say(TEXT.sent);
  }

  /** @param {string} phase */
  phase(phase) {
    // "Writing" and "checking" follow close on "reading": telling them would only delay the answer in speech.
    if (!(phase in PHASES) || this.#told.has(phase) || phase === "answering" || phase === "checking") return;
    this.#told.add(phase);
    this.say(PHASES[phase]);
  }

  /**
   * @param {string} text     the answer as plain text
   * @param {number} sources  how many it cites
   */
  answer(text, sources) {
    const flat = text.replace(/\s+/g, " ").trim();
    const cut = flat.length <= MAX_SPOKEN_CHARS ? flat : `${flat.slice(0, flat.lastIndexOf(" ", MAX_SPOKEN_CHARS))} …`;
    this.say(TEXT.answerReady(cut, sources));
  }
}
