// Answers are Markdown from a model or from somebody's page: data, never markup of ours. Raw HTML is shown as the text
// it is, the parsed result is cut down to an allow-list, and nothing in it can make the browser send a request.
import createPurifier from "dompurify";
import { Marked } from "marked";
import { trustedPolicy } from "./trusted.js";

/** Text structure, and nothing that loads, runs, styles, embeds or submits. */
const TAGS = [
  ...["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code", "kbd"],
  ...["em", "strong", "del", "sub", "sup", "a", "table", "thead", "tbody", "tr", "th", "td"],
];
const ATTRIBUTES = ["href", "start"];

/** A link may lead to a page or open a mail; everything else becomes plain text. */
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

const marked = new Marked({
  gfm: true,
  tokenizer: {
    // No rule for HTML: `<img>` in an answer is text, so that a quote of an HTML page reads as it stands there.
    html: () => undefined,
    tag: () => undefined,
  },
  renderer: {
    // A picture would be fetched from wherever the text says: its alternative text stands in for it.
    image: ({ text }) => escapeHtml(text),
    checkbox: ({ checked }) => (checked ? "[x] " : "[ ] "),
  },
});

const purifier = createPurifier(window);

/**
 * `href` as an address that a reader may safely follow, or null.
 * @param {string} href
 * @param {string} base
 */
export function safeLink(href, base) {
  if (href.trim() === "") return null;
  try {
    const url = new URL(href, base);
    return PROTOCOLS.has(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} html
 * @returns {DocumentFragment}
 */
function sanitize(html) {
  const policy = /** @type {any} */ (trustedPolicy());
  const clean = purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
    ...(policy ? { TRUSTED_TYPES_POLICY: policy } : {}),
  });
  const fragment = /** @type {DocumentFragment} */ (/** @type {unknown} */ (clean));
  // After the purifier, not in a hook of it: what is taken out of the tree while it walks there is walked past.
  for (const link of fragment.querySelectorAll("a")) treatLink(link);
  return fragment;
}

/** @param {HTMLAnchorElement} link */
function treatLink(link) {
  const target = safeLink(link.getAttribute("href") ?? "", document.baseURI);
  if (!target) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.rel = "noopener noreferrer";
  if (target.origin !== location.origin) link.target = "_blank";
}

/**
 * Shows growing Markdown in `target`. Blocks that have not changed keep their elements, so that a selection in them
 * survives and a long answer costs no more per chunk than a short one.
 */
export class MarkdownView {
  /** @type {{raw: string, nodes: Node[]}[]} */
  #blocks = [];

  /** @param {HTMLElement} target */
  constructor(target) {
    this.target = target;
  }

  /**
   * @param {string} text      all of it, not the new part
   * @param {boolean} complete whether that was the last: link definitions at the end may then change earlier blocks
   */
  render(text, complete) {
    const tokens = marked.lexer(text);
    const links = Object.keys(tokens.links).length > 0;
    let same = 0;
    while (same < this.#blocks.length && same < tokens.length && this.#blocks[same].raw === tokens[same].raw) same++;
    if (complete && links) same = 0;
    for (const { nodes } of this.#blocks.splice(same)) for (const node of nodes) node.parentNode?.removeChild(node);
    for (const token of tokens.slice(same)) {
      const fragment = sanitize(marked.parser([token]));
      this.#blocks.push({ raw: token.raw, nodes: Array.from(fragment.childNodes) });
      this.target.append(fragment);
    }
  }

  clear() {
    this.#blocks = [];
    this.target.replaceChildren();
  }
}

/** @param {string} text */
function escapeHtml(text) {
  /** @type {Record<string, string>} */
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character]);
}
