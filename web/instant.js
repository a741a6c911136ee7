// Search while the reader types: pages that match, from the index alone, before the assistant is ready or without it.
import { h } from "./dom.js";
import { safeLink } from "./markdown.js";
import { SearchIndex } from "./search/index.js";
import { TEXT } from "./strings.js";

/** Results shown: more would push the conversation out of a small dialog. */
const TOP = 4;
/** Characters from which on something is looked for: one matches half the site. */
const MIN_CHARS = 2;
/** Milliseconds without a key before a search: less than a reader notices, more than between two keys. */
const PAUSE_MS = 60;

export class Instant {
  /** @type {Promise<SearchIndex> | null} */
  #index = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #latest = 0;

  /** @param {string} manifest its address */
  constructor(manifest) {
    this.manifest = manifest;
    this.list = h("ul");
    this.element = h("nav", { class: "instant", "aria-label": TEXT.instant, hidden: true }, this.list);
  }

  /** @param {string} text what stands in the question field */
  type(text) {
    clearTimeout(this.#timer);
    const turn = ++this.#latest;
    if (text.trim().length < MIN_CHARS) {
      this.element.hidden = true;
      return;
    }
    this.#timer = setTimeout(() => void this.#search(text, turn), PAUSE_MS);
  }

  /**
   * @param {string} text
   * @param {number} turn results of an older one are not shown
   */
  async #search(text, turn) {
    try {
      this.#index ??= SearchIndex.open(this.manifest);
      const index = await this.#index;
      const { hits } = await index.search(text, TOP, { unfinished: true });
      if (turn !== this.#latest) return;
      const root = new URL(index.manifest.base_url, this.manifest);
      this.list.replaceChildren(...hits.map(({ passage }) => row(passage, root)));
      this.element.hidden = hits.length === 0;
    } catch (thrown) {
      // The assistant tells its reader of a broken index itself; the site's owner is told here, too.
      this.#index = null;
      this.element.hidden = true;
      console.warn(`py-agent: search while typing does not work. ${thrown instanceof Error ? thrown.message : thrown}`);
    }
  }
}

/**
 * @param {import("./search/index.js").Passage} passage
 * @param {URL} root
 */
function row({ url, title, path, text }, root) {
  const target = safeLink(url, root.href);
  const leaf = path.at(-1) ?? title;
  const where = leaf === title ? "" : title;
  const name = h("span", { class: "leaf", dir: "auto", text: leaf });
  const more = h("span", { class: "where", dir: "auto", text: where || text.replace(/\s+/g, " ").slice(0, 90) });
  return h("li", {}, target ? h("a", { href: target.href, rel: "noopener" }, name, more) : h("span", {}, name, more));
}
