// The reader's conversations: a view in the dialog, in the place of the messages. What was said is the reader's own and
// stays in this browser, so finding, keeping and deleting it is all here.
import { h } from "./dom.js";
import { errorElement } from "./messages.js";
import { PyAgentError } from "./errors.js";
import { TEXT } from "./strings.js";

/**
 * @typedef {object} Thread
 * @property {string} id
 * @property {string} title
 * @property {number} updated_at  ms since the epoch
 * @property {number} messages
 * @typedef {{thread: string, title: string, snippet: [string, boolean][], created_at: number}} Hit
 * @typedef {object} Deeds        each rejects with a PyAgentError
 * @property {(cursor: string | null) => Promise<{threads: Thread[], next: string | null}>} list
 * @property {(query: string) => Promise<Hit[]>} search
 * @property {(thread: string) => Promise<unknown>} open      shows it
 * @property {(thread: string | null) => Promise<unknown>} remove  null: everything
 * @property {(thread: string) => Promise<unknown>} save      as a file
 * @property {(text: string) => Promise<unknown>} load        of such a file; shows it
 * @property {() => void} leave                               back to the messages
 */

/** How long after the last key the search begins (ms): a word is typed, not letters. */
const SEARCH_MS = 200;

/** A larger file is no conversation (bytes): it would only fill the memory. */
const MAX_FILE_BYTES = 50_000_000;

export class ThreadsView {
  /** Answers that come after a newer request do not count. */
  #asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  /** @type {string | null} */
  #current = null;

  /**
   * @param {Deeds} deeds
   * @param {(text: string) => void} say  tells a screen reader
   */
  constructor(deeds, say) {
    this.deeds = deeds;
    this.say = say;
    this.field = h("input", { type: "search", "aria-label": TEXT.findThreads, placeholder: TEXT.findThreads, dir: "auto" });
    this.field.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => void this.#fill(), SEARCH_MS);
    });
    this.items = h("ul", { class: "thread-list", "aria-label": TEXT.threads });
    this.problem = h("div", {});
    this.more = h("div", {});
    const file = h("input", { type: "file", accept: "application/json,.json", "aria-label": TEXT.loadThread, class: "unseen", tabindex: "-1" });
    file.addEventListener("change", () => void this.#load(file));
    this.element = h(
      "section",
      { class: "threads", role: "region", "aria-label": TEXT.threads, hidden: true },
      this.field,
      this.problem,
      this.items,
      this.more,
      h("div", { class: "hands" }, button(TEXT.back, () => this.deeds.leave()), button(TEXT.loadThread, () => file.click()), file, confirmed(TEXT.deleteAll, TEXT.deleteAllSure, () => this.#remove(null))),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation(); // one step back, not out of the dialog
      this.deeds.leave();
    });
  }

  get shown() {
    return !this.element.hidden;
  }

  /** @param {string | null} current  the conversation on display */
  show(current) {
    this.#current = current;
    this.field.value = "";
    this.element.hidden = false;
    this.field.focus({ preventScroll: true });
    return this.#fill();
  }

  hide() {
    clearTimeout(this.#typing);
    this.#asked++;
    this.element.hidden = true;
    this.items.replaceChildren();
    this.problem.replaceChildren();
  }

  async #fill() {
    const asked = ++this.#asked;
    const query = this.field.value.trim();
    await this.#try(async () => {
      if (query) {
        const hits = await this.deeds.search(query);
        if (asked === this.#asked) this.#showItems(hits.map((hit) => this.#item(hit.thread, hit.title, hit.created_at, hit.snippet)), null);
      } else {
        const { threads, next } = await this.#page(null);
        if (asked === this.#asked) this.#showItems(threads.map((thread) => this.#item(thread.id, thread.title, thread.updated_at)), next);
      }
    });
  }

  /**
   * The next conversations in which something was said: a new one that was left again is nothing to find.
   * @param {string | null} cursor
   */
  async #page(cursor) {
    let page = await this.deeds.list(cursor);
    let threads = page.threads.filter((thread) => thread.messages > 0);
    while (threads.length === 0 && page.next) {
      page = await this.deeds.list(page.next);
      threads = page.threads.filter((thread) => thread.messages > 0);
    }
    return { threads, next: page.next };
  }

  /**
   * @param {HTMLElement[]} items
   * @param {string | null} next
   */
  #showItems(items, next) {
    this.items.replaceChildren(...items);
    this.#showMore(next);
    this.say(items.length === 0 ? TEXT.noThreads : TEXT.threadCount(items.length));
    if (items.length === 0) this.items.append(h("li", { class: "remark", text: TEXT.noThreads }));
  }

  /** @param {string | null} next */
  #showMore(next) {
    this.more.replaceChildren(...(next ? [button(TEXT.moreThreads, () => void this.#loadMore(next))] : []));
  }

  /** @param {string} cursor */
  async #loadMore(cursor) {
    const asked = this.#asked;
    await this.#try(async () => {
      const { threads, next } = await this.#page(cursor);
      if (asked !== this.#asked) return;
      const items = threads.map((thread) => this.#item(thread.id, thread.title, thread.updated_at));
      this.items.append(...items);
      this.#showMore(next);
      items[0]?.querySelector("button")?.focus();
    });
  }

  /**
   * @param {string} id
   * @param {string} title  the reader's words
   * @param {number} time
   * @param {[string, boolean][]} [snippet]
   */
  #item(id, title, time, snippet = []) {
    const name = title || TEXT.untitled;
    return h(
      "li",
      { "data-thread": id },
      h(
        "button",
        { type: "button", class: "thread", "aria-current": id === this.#current ? "true" : null, onclick: () => void this.#try(() => this.deeds.open(id)) },
        h("span", { class: "thread-title", dir: "auto", text: name }),
        snippet.length > 0 ? h("span", { class: "snippet", dir: "auto" }, ...snippet.map(([text, found]) => (found ? h("mark", { text }) : document.createTextNode(text)))) : null,
        h("time", { datetime: new Date(time).toISOString(), text: new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) }),
      ),
      h(
        "span",
        { class: "hands" },
        button(TEXT.saveThread, () => void this.#try(() => this.deeds.save(id)), `${TEXT.saveThread}: ${name}`),
        confirmed(TEXT.deleteThread, TEXT.deleteSure, () => this.#remove(id), name),
      ),
    );
  }

  /** @param {string | null} thread */
  async #remove(thread) {
    await this.#try(async () => {
      await this.deeds.remove(thread);
      this.say(TEXT.deleted);
      await this.#fill();
      this.field.focus({ preventScroll: true });
    });
  }

  /** @param {HTMLInputElement} file */
  async #load(file) {
    const chosen = file.files?.[0];
    file.value = ""; // the same file may be chosen again
    if (!chosen) return;
    await this.#try(async () => {
      if (chosen.size > MAX_FILE_BYTES) throw new PyAgentError("too_large", TEXT.fileTooLarge, TEXT.fileHint);
      await this.deeds.load(await chosen.text());
    });
  }

  /**
   * Runs what may fail; why it did stands in the view.
   * @param {() => Promise<unknown>} deed
   */
  async #try(deed) {
    this.problem.replaceChildren();
    try {
      await deed();
    } catch (thrown) {
      this.problem.replaceChildren(errorElement(PyAgentError.from(thrown)));
    }
  }
}

/**
 * @param {string} text
 * @param {() => void} onclick
 * @param {string} [label]
 */
function button(text, onclick, label) {
  return h("button", { type: "button", class: "quiet", "aria-label": label, onclick, text });
}

/**
 * A button that asks once more: what is deleted does not come back.
 * @param {string} text
 * @param {string} sure
 * @param {() => Promise<void>} deed
 * @param {string} [name]  of what is deleted
 */
function confirmed(text, sure, deed, name = "") {
  const place = h("span", { class: "confirmed" });
  const named = (/** @type {string} */ words) => (name ? `${words}: ${name}` : words);
  const ask = () => {
    const keep = button(TEXT.keep, rest, named(TEXT.keep));
    place.replaceChildren(h("span", { class: "remark", text: sure }), button(TEXT.deleteNow, () => void deed().then(rest), named(TEXT.deleteNow)), keep);
    keep.focus();
  };
  const first = button(text, ask, named(text));
  const rest = () => {
    const hadFocus = place.contains(/** @type {ShadowRoot} */ (place.getRootNode()).activeElement);
    place.replaceChildren(first);
    if (hadFocus) first.focus();
  };
  place.append(first);
  return place;
}
