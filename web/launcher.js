// The element that stands in the host page, with the launcher in it. The dialog joins its shadow root when it is opened.
import { ICONS, adopt, conceal, h, icon, reveal } from "./dom.js";
import { LAUNCHER_CSS } from "./launcher-style.js";
import { TEXT } from "./strings.js";

export const ELEMENT_NAME = "py-agent-widget";

/** The host element. It holds no logic: a page may have only one class by a name, and must be able to start it twice. */
class PyAgentElement extends HTMLElement {
  constructor() {
    super();
    /** @type {(() => void) | null} called when the page puts the element (back) in: popovers close when taken out */
    this.onConnected = null;
    adopt(this.attachShadow({ mode: "open" }), LAUNCHER_CSS);
  }

  connectedCallback() {
    this.onConnected?.();
  }
}

export class Launcher {
  /**
   * @param {{title: string, position: "right" | "left"}} config
   * @param {() => void} onOpen  the reader wants the dialog
   */
  constructor(config, onOpen) {
    if (!customElements.get(ELEMENT_NAME)) customElements.define(ELEMENT_NAME, PyAgentElement);
    this.element = /** @type {PyAgentElement} */ (document.createElement(ELEMENT_NAME));
    this.element.dataset.position = config.position;
    this.element.dataset.state = "idle";
    this.root = /** @type {ShadowRoot} */ (this.element.shadowRoot);
    this.button = h(
      "button",
      {
        type: "button",
        class: "launcher",
        popover: "manual",
        "aria-label": TEXT.open(config.title),
        "aria-haspopup": "dialog",
        "aria-expanded": "false",
        onclick: onOpen,
      },
      icon(ICONS.ask),
      h("span", { class: "launcher-label", text: config.title }),
    );
    this.note = h("p", { class: "launcher-note", popover: "manual", role: "alert" });
    this.root.append(this.button, this.note);
    this.visible = true;
    this.element.onConnected = () => this.visible && reveal(this.button);
  }

  /** Puts the element beside the body, where frameworks that swap the page's content leave it alone. */
  attach() {
    document.documentElement.append(this.element);
  }

  /** @param {boolean} open  whether the dialog stands where the launcher was */
  setOpen(open) {
    this.visible = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) conceal(this.button);
    else reveal(this.button);
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    this.button.toggleAttribute("data-busy", busy);
  }

  /**
   * Shows why the dialog could not even be loaded, or takes that away.
   * @param {string} text
   */
  setNote(text) {
    this.note.textContent = text;
    if (text) reveal(this.note);
    else conceal(this.note);
  }

  remove() {
    this.element.onConnected = null;
    this.element.remove();
  }
}
