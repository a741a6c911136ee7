// Elements built by hand: no HTML string is ever parsed here, so there is nothing for Trusted Types or a CSP to refuse.

/**
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props
 *   `text` sets the text, `onNAME` listens, `true` sets an empty attribute, false and null set none
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} props
 * @param {(Node | string | null)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * A decorative icon: 24 units square, drawn with the colour of the text around it, and silent for screen readers.
 * @param {string} path  the outline
 */
export function icon(path) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const outline = document.createElementNS(namespace, "path");
  outline.setAttribute("d", path);
  svg.append(outline);
  return svg;
}

export const ICONS = Object.freeze({
  ask: "M4 5h16v11H10l-5 4v-4H4zM8 9h8M8 12.5h5",
  close: "M6 6l12 12M18 6L6 18",
  send: "M5 12h13M12 5l7 7-7 7",
  stop: "M7 7h10v10H7z",
  fresh: "M12 5v14M5 12h14",
  copy: "M9 9h10v10H9zM15 9V5H5v10h4",
  threads: "M5 7h14M5 12h14M5 17h9",
  up: "M7 11v8H4v-8zM7 11l4-7c2 0 3 1 2.500 3L13 10h6l-1.500 9H7",
  downvote: "M7 13V5H4v8zM7 13l4 7c2 0 3-1 2.500-3L13 14h6l-1.500-9H7",
  down: "M12 5v13M6 12l6 6 6-6",
});

/**
 * Adopts a style sheet into a shadow root. Constructed sheets are not subject to `style-src`, which <style> is.
 * @param {ShadowRoot} root
 * @param {string} css
 */
export function adopt(root, css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

/**
 * Shows an element that carries `popover`, in the browser's top layer where there is one: no z-index and no transform
 * of the host page reaches it there.
 * @param {HTMLElement} element
 */
export function reveal(element) {
  element.classList.add("shown");
  if (element.isConnected && element.showPopover && !element.matches(":popover-open")) element.showPopover();
}

/** @param {HTMLElement} element */
export function conceal(element) {
  element.classList.remove("shown");
  if (element.isConnected && element.hidePopover && element.matches(":popover-open")) element.hidePopover();
}
