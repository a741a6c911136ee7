// What a turn asks its reader while it runs. It stands above the question field, where no scrolling hides it. Words in it
// come from a model or a page: they are shown as text, and can neither hide themselves nor push the buttons away.
import { h } from "./dom.js";
import { errorElement } from "./messages.js";
import { TEXT } from "./strings.js";

/**
 * @typedef {object} GateRequest  of py_agent/model/gate.py
 * @property {string} id
 * @property {"approve" | "ask"} kind
 * @property {string} tool
 * @property {string} text
 * @property {string} detail
 * @property {string[]} choices
 * @property {number} timeout_s
 * @typedef {{id: string, result: "resolved" | "timeout" | "aborted", value: boolean | string | null}} GateClosed
 * @typedef {(gate: string, value: boolean | string | null) => Promise<unknown>} Decide  null: no answer
 */

/** Buttons take nothing for this long (ms): a click or key that was meant for something else must not approve. */
export const ARM_MS = 500;

/** Longer words are cut, and it is said by how much: nobody reads more before deciding. */
const MAX_CHARS = 2_000;

/** When so little time is left (s), a screen reader is told once: WCAG 2.2.1 asks for 20 seconds. */
const WARN_S = 20;

/** Characters that change how their neighbours are laid out: an address could be made to look like another one. */
const LAYOUT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/** In what would be done, anything invisible, too. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cf}/gu;

export class GateDock {
  /** @type {Gate | null} */
  #gate = null;

  /**
   * @param {(text: string) => void} say  tells a screen reader
   */
  constructor(say) {
    this.say = say;
    this.element = h("div", { class: "dock" });
  }

  /** Whether something is asked. */
  get open() {
    return this.#gate !== null;
  }

  /**
   * @param {GateRequest} request
   * @param {Decide} decide
   * @param {boolean} takeFocus  else a screen reader is told
   */
  ask(request, decide, takeFocus) {
    this.dismiss();
    this.#gate = new Gate(request, decide, this.say);
    this.element.replaceChildren(this.#gate.element);
    this.#gate.fit();
    if (takeFocus) this.#gate.focus();
    else this.say(this.#gate.spoken);
  }

  /** Holds the buttons for a moment again: they have just come into sight. */
  arm() {
    this.#gate?.arm();
  }

  /**
   * @param {GateClosed} closed
   * @returns {HTMLElement | null} the line for the conversation; null if this was not asked here
   */
  close(closed) {
    const gate = this.#gate;
    if (gate?.request.id !== closed.id) return null;
    this.dismiss();
    return gate.outcome(closed);
  }

  /** Takes it away undecided: the turn has ended. */
  dismiss() {
    this.#gate?.end();
    this.#gate = null;
    this.element.replaceChildren();
  }
}

class Gate {
  #skipped = false;
  #pending = false;
  #armed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #arming;

  /**
   * @param {GateRequest} request
   * @param {Decide} decide
   * @param {(text: string) => void} say
   */
  constructor(request, decide, say) {
    this.request = request;
    this.decide = decide;
    this.say = say;
    this.ends = performance.now() + request.timeout_s * 1_000;
    this.text = shown(request.text, LAYOUT);
    const detail = shown(request.detail, INVISIBLE);
    this.title = request.kind === "approve" ? TEXT.gateApprove : TEXT.gateAsk;
    this.field = request.kind === "ask" && request.choices.length === 0 ? answerField(this.text) : null;
    this.problem = h("div", {});
    this.clock = h("span", { class: "time", role: "timer", "aria-live": "off" });
    const hands = h("form", { class: "hands" }, this.field, ...this.#buttons());
    hands.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.field?.value.trim()) void this.#take(this.field.value.trim());
    });
    this.field?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      hands.requestSubmit();
    });
    this.element = h(
      "section",
      { class: "gate", role: "group", "aria-labelledby": "gate-title", "aria-describedby": detail ? "gate-text gate-detail" : "gate-text", tabindex: "-1", "data-gate": request.id },
      h("p", { class: "head" }, h("strong", { id: "gate-title", text: this.title }), this.clock),
      h("p", { id: "gate-text", class: "words", dir: "auto", text: this.text }),
      // Scrolls for itself: long words before it could push out of sight what they ask for.
      detail ? h("p", { id: "gate-detail", class: "words detail", dir: "auto", text: detail }) : null,
      this.problem,
      hands,
    );
    this.spoken = TEXT.gateSpoken(this.title, [this.text, detail, ...request.choices].filter(Boolean).join(". "));
    this.warned = request.timeout_s <= WARN_S;
    this.ticking = setInterval(() => this.#tick(), 1_000);
    this.#tick();
    this.arm();
  }

  #buttons() {
    const { kind, choices } = this.request;
    const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, more = "") => h("button", { type: "button", class: `quiet ${more}`, dir: "auto", onclick, text });
    if (kind === "approve") {
      return [button(TEXT.gateDeny, () => void this.#take(false)), button(TEXT.gateAllow, () => void this.#take(true), "allow")];
    }
    const skip = button(TEXT.gateSkip, () => void this.#take(null));
    if (this.field) return [h("button", { type: "submit", class: "quiet", text: TEXT.gateAnswer }), skip];
    return [...choices.map((choice) => button(shown(choice, LAYOUT), () => void this.#take(choice))), skip];
  }

  arm() {
    this.#armed = false;
    clearTimeout(this.#arming);
    this.#arming = setTimeout(() => {
      this.#armed = true;
      this.#enable();
    }, ARM_MS);
    this.#enable();
  }

  /** Words that do not fit are scrolled, by keyboard, too. */
  fit() {
    for (const words of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll(".words"))) {
      if (words.scrollHeight > words.clientHeight) words.tabIndex = 0;
    }
  }

  /** The element itself, not a button: a key that is on its way must not decide. */
  focus() {
    (this.field ?? this.element).focus({ preventScroll: true });
  }

  end() {
    clearInterval(this.ticking);
    clearTimeout(this.#arming);
  }

  /** @param {GateClosed} closed */
  outcome({ result, value }) {
    return h(
      "div",
      { class: "message decision" },
      h("p", { class: "remark", dir: "auto", text: this.text }),
      h("p", { class: "remark outcome", dir: "auto", text: this.#said(result, value) }),
    );
  }

  /**
   * @param {string} result
   * @param {boolean | string | null} value
   */
  #said(result, value) {
    if (result === "resolved") return typeof value === "string" ? TEXT.gateAnswered(shown(value, LAYOUT)) : value ? TEXT.gateAllowed : TEXT.gateDenied;
    if (this.#skipped) return TEXT.gateSkipped;
    return result === "timeout" ? TEXT.gateTimeout : TEXT.gateAborted;
  }

  /** @param {boolean | string | null} value */
  async #take(value) {
    if (!this.#armed || this.#pending) return;
    this.#pending = true;
    this.#skipped = value === null;
    this.problem.replaceChildren();
    this.#enable();
    try {
      await this.decide(this.request.id, value);
    } catch (thrown) {
      // It was not taken: the reader hears why and may try again. If the turn has ended, all this goes away with it.
      this.problem.replaceChildren(errorElement(/** @type {any} */ (thrown)));
      this.#pending = this.#skipped = false;
      this.#enable();
      this.focus();
    }
  }

  #enable() {
    const waits = !this.#armed || this.#pending;
    // A button that goes grey loses the focus, and nobody would know that the reader was here.
    const focused = /** @type {ShadowRoot | Document} */ (this.element.getRootNode()).activeElement;
    if (waits && focused?.localName === "button" && this.element.contains(focused)) this.element.focus({ preventScroll: true });
    for (const button of this.element.querySelectorAll("button")) button.disabled = waits;
  }

  #tick() {
    const left = Math.max(0, Math.ceil((this.ends - performance.now()) / 1_000));
    this.clock.textContent = TEXT.gateLeft(`${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
    if (left <= WARN_S && !this.warned) {
      this.warned = true;
      this.say(TEXT.gateWarning(left));
    }
  }
}

/** @param {string} label */
function answerField(label) {
  return h("textarea", { rows: "1", "aria-label": label, dir: "auto", enterkeyhint: "send" });
}

/**
 * Words of a stranger, with what could make them look like other words made visible.
 * @param {string} text
 * @param {RegExp} hidden
 */
function shown(text, hidden) {
  const plain = text.replace(hidden, (character) => `[U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}]`);
  return plain.length <= MAX_CHARS ? plain : `${plain.slice(0, MAX_CHARS)} … ${TEXT.gateMore(plain.length - MAX_CHARS)}`;
}
