// The dialog: header, conversation, question field. It knows elements and the reader's hands, and no protocol.
import { Announcer } from "./announcer.js";
import { ICONS, adopt, conceal, h, icon, reveal } from "./dom.js";
import { Follower } from "./follow.js";
import { errorElement } from "./messages.js";
import { PANEL_CSS } from "./panel-style.js";
import { TEXT } from "./strings.js";

/** Lines that the question field grows to before it scrolls. */
const MAX_ROWS = 5;

/**
 * @typedef {object} Hands
 * @property {(text: string) => void} onSend
 * @property {() => void} onStop
 * @property {() => void} onFresh  a new conversation
 * @property {() => void} onClose
 * @property {() => void} onRetry
 */

export class Panel {
  /** @type {Element | null} what had the focus before the dialog opened */
  #before = null;

  /**
   * @param {ShadowRoot} root
   * @param {import("./config.js").Config} config
   * @param {Hands} hands
   */
  constructor(root, config, hands) {
    adopt(root, PANEL_CSS);
    this.root = root;
    this.hands = hands;
    this.announcer = new Announcer();
    this.isOpen = false;

    this.greeting = h("p", { class: "greeting", dir: "auto", text: config.greeting });
    this.list = h("div", { class: "list", role: "log", "aria-live": "off", "aria-label": TEXT.messages, tabindex: "0" });
    this.notice = h("div", { class: "notice" });
    this.newest = iconButton("newest", TEXT.newest, ICONS.down, () => this.follower.toEnd());
    this.newest.hidden = true;
    this.field = h("textarea", { rows: "1", "aria-label": TEXT.question, placeholder: config.placeholder, dir: "auto", enterkeyhint: "send" });
    this.send = iconButton("send", TEXT.send, ICONS.send, () => this.#submit());
    this.stop = iconButton("stop", TEXT.stop, ICONS.stop, () => hands.onStop());
    this.stop.hidden = true;
    this.footnote = h("p", { class: "footnote" });
    const titleId = "title";
    this.element = h(
      "section",
      { class: "panel", role: "dialog", "aria-labelledby": titleId, popover: "manual", "data-position": config.position, tabindex: "-1" },
      h(
        "header",
        {},
        h("h1", { id: titleId, dir: "auto", text: config.title }),
        iconButton("fresh", TEXT.fresh, ICONS.fresh, () => hands.onFresh()),
        iconButton("close", TEXT.close, ICONS.close, () => hands.onClose()),
      ),
      this.notice,
      h("div", { class: "middle" }, this.list, this.newest),
      h("form", { class: "composer" }, this.field, this.send, this.stop),
      this.footnote,
      this.announcer.element,
    );
    this.list.append(this.greeting);
    root.append(this.element);
    this.follower = new Follower(this.list, (following) => (this.newest.hidden = following));
    this.#listen();
  }

  #listen() {
    this.element.querySelector("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.field.addEventListener("input", () => this.#fitField());
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    for (const name of ["keyup", "keypress"]) this.element.addEventListener(name, (event) => event.stopPropagation());
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    // From outside, keys typed here seem to hit our host element: docs themes would take an "s" for their shortcut.
    event.stopPropagation();
    // While an input method composes, Enter and Escape belong to it (keyCode 229: Safari sends them after the end).
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.hands.onClose();
    } else if (event.key === "Enter" && !event.shiftKey && event.target === this.field) {
      event.preventDefault();
      this.#submit();
    }
  }

  #submit() {
    const text = this.field.value.trim();
    if (!text || this.send.hidden) return;
    this.hands.onSend(text);
  }

  #fitField() {
    this.field.rows = 1;
    const line = Number.parseFloat(getComputedStyle(this.field).lineHeight) || 24;
    while (this.field.rows < MAX_ROWS && this.field.scrollHeight > this.field.clientHeight + line / 2) this.field.rows++;
  }

  clearField() {
    this.field.value = "";
    this.#fitField();
  }

  open() {
    if (this.isOpen) return;
    this.isOpen = true;
    this.#before = document.activeElement;
    this.element.dir = getComputedStyle(document.documentElement).direction;
    reveal(this.element);
    this.follower.keep();
    this.focusField();
  }

  focusField() {
    this.field.focus({ preventScroll: true });
  }

  /** @param {HTMLElement} launcher  takes the focus when nothing else can have it back */
  close(launcher) {
    if (!this.isOpen) return;
    this.isOpen = false;
    const hadFocus = document.activeElement === this.root.host;
    conceal(this.element);
    // A reader who has gone on to work in the page is not pulled away from there.
    if (!hadFocus) return;
    const before = this.#before;
    const usable = before instanceof HTMLElement && before.isConnected && before !== document.body && before !== this.root.host;
    (usable ? before : launcher).focus({ preventScroll: true });
  }

  /** @param {boolean} busy  whether an answer is under way */
  setBusy(busy) {
    const hadFocus = this.root.activeElement;
    this.send.hidden = busy;
    this.stop.hidden = !busy;
    if (hadFocus === this.send || hadFocus === this.stop) this.focusField();
  }

  /**
   * The strip under the header; empty takes it away.
   * @param {(HTMLElement | string)[]} content
   */
  setNotice(...content) {
    this.notice.replaceChildren(...content);
  }

  /** @param {import("./errors.js").PyAgentError} error */
  showFailure(error) {
    this.setNotice(errorElement(error), h("button", { type: "button", class: "quiet", onclick: () => this.hands.onRetry(), text: TEXT.retry }));
  }

  /** @param {HTMLElement[]} elements */
  add(...elements) {
    this.greeting.remove();
    this.list.append(...elements);
    this.follower.keep();
  }

  /** Takes all messages away. */
  clear() {
    this.list.replaceChildren(this.greeting);
    this.follower.toEnd();
  }
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} path
 * @param {() => void} onClick
 */
function iconButton(name, label, path, onClick) {
  return h("button", { type: "button", class: `icon-button ${name}`, "aria-label": label, title: label, onclick: onClick }, icon(path));
}
