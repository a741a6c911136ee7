// What leads out of the dialog: files and pages.
import { h } from "./dom.js";
import { safeLink } from "./markdown.js";

/** When the address of the file is given back (ms): browsers read it after the click, some much later. */
const KEPT_MS = 60_000;

/** @param {{name: string, text: string}} file */
export function saveFile({ name, text }) {
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}

/**
 * Opens a page, if its address is one that may be followed.
 * @param {string} link
 * @returns {boolean} whether it is being opened
 */
export function openPage(link) {
  const target = safeLink(link, document.baseURI);
  if (target) location.assign(target.href);
  return target !== null;
}
