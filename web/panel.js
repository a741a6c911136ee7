// The dialog: header, conversation, question field. It knows elements and the reader's hands, and no protocol.
import { Announcer } from "./announcer.js";
import { ICONS, adopt, conceal, h, icon, reveal } from "./dom.js";
import { Follower } from "./follow.js";
import { GateDock } from "./gate.js";
import { Instant } from "./instant.js";
import { errorElement } from "./messages.js";
import { PANEL_CSS } from "./panel-style.js";
import { TEXT } from "./strings.js";
import { ThreadsView } from "./threads.js";

/** Lines that the question field grows to before it scrolls. */
const MAX_ROWS = 5;

/**
 * @typedef {object} Hands
 * @property {(text: string) => void} onSend
 * @property {() => void} onStop
 * @property {() => void} onFresh  a new conversation
 * @property {() => void} onThreads  the list of conversations, or back from it
 * @property {import("./threads.js").Deeds} threads
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
    this.dock = new GateDock((text) => this.announcer.say(text));
    this.placeholder = config.placeholder;
    this.isOpen = false;
    this.busy = false;

    this.greeting = h("p", { class: "greeting", dir: "auto", text: config.greeting });
    this.list = h("div", { class: "list", role: "log", "aria-live": "off", "aria-label": TEXT.messages, tabindex: "0" });
    this.notice = h("div", { class: "notice" });
    this.newest = iconButton("newest", TEXT.newest, ICONS.down, () => this.follower.toEnd());
    this.newest.hidden = true;
    this.field = h("textarea", { rows: "1", "aria-label": TEXT.question, placeholder: config.placeholder, dir: "auto", enterkeyhint: "send" });
    this.send = iconButton("send", TEXT.send, ICONS.send, () => this.#submit());
    this.stop = iconButton("stop", TEXT.stop, ICONS.stop, () => hands.onStop());
    this.stop.hidden = true;
    this.instant = new Instant(config.index);
    this.threads = new ThreadsView(hands.threads, (text) => this.announcer.say(text));
    this.threadsButton = iconButton("conversations", TEXT.threads, ICONS.threads, () => hands.onThreads());
    this.threadsButton.hidden = true;
    this.middle = h("div", { class: "middle" }, this.list, this.newest);
    this.composer = h("form", { class: "composer" }, this.field, this.send, this.stop);
    this.footnote = h("p", { class: "footnote" });
    const titleId = "title";
    this.element = h(
      "section",
      { class: "panel", role: "dialog", "aria-labelledby": titleId, popover: "manual", "data-position": config.position, tabindex: "-1" },
      h(
        "header",
        {},
        h("h1", { id: titleId, dir: "auto", text: config.title }),
        this.threadsButton,
        iconButton("fresh", TEXT.fresh, ICONS.fresh, () => hands.onFresh()),
        iconButton("close", TEXT.close, ICONS.close, () => hands.onClose()),
      ),
      this.notice,
      this.middle,
      this.threads.element,
      this.dock.element,
      this.instant.element,
      this.composer,
      this.footnote,
      this.announcer.element,
    );
    this.list.append(this.greeting);
    root.append(this.element);
    this.follower = new Follower(this.list, (following) => (this.newest.hidden = following));
    this.#listen();
  }

  #listen() {
    this.composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.field.addEventListener("input", () => {
      this.#fitField();
      // Who adds to a question is not looking for pages.
      this.instant.type(this.busy ? "" : this.field.value);
    });
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
    if (!text) return;
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
    this.instant.type("");
  }

  open() {
    if (this.isOpen) return;
    this.isOpen = true;
    this.#before = document.activeElement;
    this.element.dir = getComputedStyle(document.documentElement).direction;
    reveal(this.element);
    this.dock.arm();
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

  /**
   * Shows the conversations in the place of the messages, or the messages again.
   * @param {boolean} shown
   * @param {string | null} [current]  the conversation on display
   */
  showThreads(shown, current = null) {
    if (shown === this.threads.shown) return;
    this.middle.hidden = this.composer.hidden = this.footnote.hidden = shown;
    this.instant.type(shown ? "" : this.field.value);
    this.threadsButton.setAttribute("aria-expanded", String(shown));
    if (shown) {
      void this.threads.show(current);
      return;
    }
    this.threads.hide();
    this.follower.keep();
    if (this.isOpen) this.focusField();
  }

  /** @param {boolean} busy  whether an answer is under way */
  setBusy(busy) {
    const hadFocus = this.root.activeElement;
    this.busy = busy;
    this.stop.hidden = !busy;
    // Who goes on writing adds to the question.
    const label = busy ? TEXT.add : TEXT.send;
    this.send.setAttribute("aria-label", label);
    this.send.title = label;
    this.field.placeholder = busy ? TEXT.addPlaceholder : this.placeholder;
    this.#holdAgain();
    if (hadFocus === this.send || hadFocus === this.stop || hadFocus?.classList.contains("again")) this.focusField();
  }

  /** One question at a time: what asks another one has to wait. */
  #holdAgain() {
    for (const button of this.list.querySelectorAll("button.again")) button.toggleAttribute("disabled", this.busy);
  }

  /**
   * Shows what the turn asks. The focus goes there unless the reader is writing, or is not in the dialog at all.
   * @param {import("./gate.js").GateRequest} request
   * @param {import("./gate.js").Decide} decide
   */
  ask(request, decide) {
    const active = this.root.activeElement;
    const writing = active === this.field && this.field.value !== "";
    const inside = this.isOpen && document.activeElement === this.root.host && active !== null;
    this.dock.ask(request, decide, inside && !writing);
    this.follower.keep();
  }

  /**
   * Takes away what was asked, with the focus if it was there.
   * @param {import("./gate.js").GateClosed | null} closed  null: the turn has ended
   * @returns {HTMLElement | null} the line for the conversation
   */
  answered(closed) {
    // A complete answer may just have been shown from its start: nothing moves where nothing was asked.
    if (!this.dock.open) return null;
    const hadFocus = this.dock.element.contains(this.root.activeElement);
    const line = closed ? this.dock.close(closed) : (this.dock.dismiss(), null);
    if (hadFocus && !this.dock.open) this.focusField();
    this.follower.keep();
    return line;
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
    if (elements.length > 0) this.greeting.remove();
    this.list.append(...elements);
    this.#holdAgain();
    this.follower.keep();
  }

  /**
   * @param {HTMLElement} anchor  a message; if it is gone from the list, so are the new ones
   * @param {HTMLElement[]} elements
   */
  addBehind(anchor, ...elements) {
    anchor.after(...elements);
    this.#holdAgain();
    this.follower.toEnd();
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
