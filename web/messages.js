// The messages of a conversation, as elements. What has an author says who it is.
import { ICONS, h, icon } from "./dom.js";
import { MarkdownView, safeLink } from "./markdown.js";
import { PHASES, TEXT } from "./strings.js";

/**
 * @typedef {object} Source
 * @property {string} passage
 * @property {string} page
 * @property {string} anchor
 * @property {string} url     relative to the site's root
 * @property {string} link    absolute, added by the harness host
 * @property {string} title
 * @property {string[]} path
 * @property {string} quote
 * @property {string} [text]  of a search hit
 * @typedef {object} Judging what the reader thinks of an answer
 * @property {"up" | "down" | null} verdict  so far
 * @property {(verdict: "up" | "down" | null) => Promise<unknown>} judge
 */

/** A draft is drawn at most this often (ms): the eye sees no more, and the page keeps its frames. */
const DRAW_MS = 50;

/** What a search result shows of its passage. */
const EXCERPT_CHARS = 240;

/** How long "Copied." stands (ms). */
const COPIED_MS = 2_000;

/**
 * @param {string} text
 */
export function questionElement(text) {
  return h("article", { class: "message question" }, author(TEXT.you), h("p", { class: "bubble", dir: "auto", text }));
}

/**
 * The line under a question that got no complete answer.
 * @param {() => void} onAgain
 * @param {string} [remark]  why
 * @param {string} [label]   of the button
 */
export function interruptedElement(onAgain, remark = TEXT.interrupted, label = TEXT.again) {
  return h("div", { class: "message interrupted" }, h("p", { class: "remark", text: remark }), againButton(onAgain, label));
}

/**
 * The way to a page that the reader agreed to see, or null where it leads nowhere safe.
 * @param {{link: string, title: string}} place
 */
export function placeElement({ link, title }) {
  const target = safeLink(link, document.baseURI);
  if (!target) return null;
  return h("div", { class: "message decision place-link" }, h("a", { href: target.href, rel: "noopener", dir: "auto", text: title || target.pathname }));
}

/**
 * @param {() => void} onAgain
 * @param {string} [label]
 */
function againButton(onAgain, label = TEXT.again) {
  return h("button", { type: "button", class: "quiet again", onclick: onAgain, text: label });
}

/**
 * What a search without an answer found.
 * @param {{passage: Source}[]} hits
 */
export function passagesElement(hits) {
  const list = hits.length > 0 ? sourceList(hits.map(({ passage }) => passage)) : null;
  return h(
    "article",
    { class: "message answer", "data-status": "search" },
    author(TEXT.passagesBy),
    list ?? h("p", { class: "remark", text: TEXT.nothingFound }),
  );
}

/** One answer, from its first status line to its sources. */
export class AnswerElement {
  #text = "";
  #phase = "";
  /** @type {ReturnType<typeof setTimeout> | null} */
  #drawing = null;

  /**
   * @param {() => void} onGrow    called when it has changed its height
   * @param {() => void} onAgain   the reader wants the question asked again
   */
  constructor(onGrow, onAgain) {
    this.onGrow = onGrow;
    this.onAgain = onAgain;
    this.body = h("div", { class: "body", dir: "auto" });
    this.view = new MarkdownView(this.body);
    this.statusLine = h("p", { class: "status" });
    this.element = h(
      "article",
      { class: "message answer", "data-status": "running", "aria-busy": "true" },
      author(TEXT.answerBy),
      this.body,
      this.statusLine,
    );
  }

  /** @param {string} phase */
  phase(phase) {
    this.#phase = PHASES[phase] ?? phase;
    this.status(this.#phase);
    this.element.dataset.phase = phase;
  }

  /** @param {string} text */
  status(text) {
    this.statusLine.textContent = text;
    this.onGrow();
  }

  /** @param {boolean} waiting  whether the turn waits for its reader */
  wait(waiting) {
    this.status(waiting ? TEXT.gateWaiting : this.#phase);
  }

  /** @param {string} text */
  append(text) {
    this.#text += text;
    this.#drawing ??= setTimeout(() => {
      this.#drawing = null;
      this.view.render(this.#text, false);
      this.onGrow();
    }, DRAW_MS);
  }

  reset() {
    this.#settle();
    this.#text = "";
    this.view.clear();
    this.onGrow();
  }

  /**
   * @param {{status: string, answer: string, sources: Source[], related: Source[]}} turn
   * @param {Judging | null} [judging]  null: there is nothing to judge
   */
  finish({ status, answer, sources, related }, judging = null) {
    this.#end(status);
    if (status === "abstained") this.body.before(h("p", { class: "badge", text: TEXT.abstained }));
    this.#text = answer;
    this.view.render(answer, true);
    if (status === "uncited") this.element.append(h("p", { class: "remark", text: TEXT.uncited }));
    this.#appendList(TEXT.sources, sources, "sources");
    this.#appendList(TEXT.related, related, "related");
    if (answer) this.element.append(h("div", { class: "tools" }, ...copyButton(() => this.#text), ...(judging ? verdictButtons(judging) : [])));
    this.onGrow();
  }

  stopped() {
    this.#end("stopped");
    if (this.#text) this.view.render(this.#text, true);
    this.element.append(h("p", { class: "remark", text: TEXT.stopped }), againButton(this.onAgain));
    this.onGrow();
  }

  /**
   * @param {import("./errors.js").PyAgentError} error
   * @param {boolean} [aloud]  whether screen readers hear it at once
   */
  failed(error, aloud = true) {
    this.#end("failed");
    this.element.dataset.code = error.code;
    this.element.append(errorElement(error, aloud), againButton(this.onAgain));
    this.onGrow();
  }

  /** The answer as plain text. */
  get plain() {
    return this.body.textContent ?? "";
  }

  /** @param {string} status */
  #end(status) {
    this.#settle();
    this.statusLine.remove();
    this.element.dataset.status = status;
    this.element.removeAttribute("aria-busy");
    delete this.element.dataset.phase;
  }

  #settle() {
    if (this.#drawing !== null) clearTimeout(this.#drawing);
    this.#drawing = null;
  }

  /**
   * @param {string} title
   * @param {Source[]} sources
   * @param {string} kind
   */
  #appendList(title, sources, kind) {
    const list = sourceList(sources);
    if (list) this.element.append(h("section", { class: kind, "aria-label": title }, h("h3", { text: title }), list));
  }
}

/**
 * @param {import("./errors.js").PyAgentError} error
 * @param {boolean} [aloud]
 */
export function errorElement({ summary, hint }, aloud = true) {
  return h("div", { class: "error", role: aloud ? "alert" : null }, h("p", { text: summary }), hint ? h("p", { class: "hint", text: hint }) : null);
}

/**
 * Links to passages, or null when none of them may be followed.
 * @param {Source[]} sources
 */
function sourceList(sources) {
  const items = sources.map(sourceItem).filter((item) => item !== null);
  return items.length > 0 ? h("ol", { class: "passages" }, ...items) : null;
}

/** @param {Source} source */
function sourceItem(source) {
  const target = safeLink(source.link ?? source.url ?? "", document.baseURI);
  if (!target) return null;
  const heading = source.path?.at(-1) || source.title || target.pathname;
  const place = [source.title, ...(source.path ?? []).slice(0, -1)].filter((part) => part && part !== heading);
  const words = source.quote || excerpt(source.text ?? "");
  return h(
    "li",
    {},
    h("a", { href: target.href, rel: "noopener", dir: "auto", "data-passage": source.passage, text: heading }),
    place.length > 0 ? h("span", { class: "place", dir: "auto", text: Array.from(new Set(place)).join(" › ") }) : null,
    words ? h("q", { dir: "auto", text: words }) : null,
  );
}

/** @param {string} text */
function excerpt(text) {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= EXCERPT_CHARS ? flat : `${flat.slice(0, flat.lastIndexOf(" ", EXCERPT_CHARS))} …`;
}

/** @param {() => string} read */
function copyButton(read) {
  const said = h("span", { class: "said", role: "status" });
  const button = h("button", { type: "button", class: "icon-button", "aria-label": TEXT.copy, title: TEXT.copy }, icon(ICONS.copy));
  button.addEventListener("click", () => {
    const done = navigator.clipboard ? navigator.clipboard.writeText(read()) : Promise.reject();
    void done.then(
      () => (said.textContent = TEXT.copied),
      () => (said.textContent = TEXT.copyFailed),
    );
    setTimeout(() => (said.textContent = ""), COPIED_MS);
  });
  return [button, said];
}

/**
 * Whether an answer helped, as two buttons of which one may be pressed; pressing it again takes it back.
 * @param {Judging} judging
 */
function verdictButtons({ verdict, judge }) {
  const said = h("span", { class: "said", role: "status" });
  const buttons = /** @type {const} */ (["up", "down"]).map((kind) => {
    const label = kind === "up" ? TEXT.helpful : TEXT.unhelpful;
    const path = kind === "up" ? ICONS.up : ICONS.downvote;
    return h("button", { type: "button", class: "icon-button", "data-verdict": kind, "aria-label": label, title: label, onclick: () => void press(kind) }, icon(path));
  });
  let given = verdict;
  const show = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.verdict === given));
  };
  /** @param {"up" | "down"} kind */
  async function press(kind) {
    const before = given;
    given = given === kind ? null : kind;
    show();
    said.textContent = "";
    try {
      await judge(given);
    } catch (thrown) {
      given = before; // it was not kept, and must not look as if it were
      show();
      said.textContent = /** @type {import("./errors.js").PyAgentError} */ (thrown).summary;
    }
  }
  show();
  return [...buttons, said];
}

/** @param {string} name */
function author(name) {
  return h("h2", { class: "author", text: name });
}
