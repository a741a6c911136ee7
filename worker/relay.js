// Search for a tab that does not lead: the query goes to the leader over a BroadcastChannel and the hits come back.

import { Failure } from "./failure.js";

/**
 * Milliseconds until an unanswered query fails. A leader that is still booting answers when it is ready, which takes
 * about 2 s on a slow laptop; one that is frozen in the background never does.
 */
const ANSWER_MS = 10_000;

/** @typedef {{query: string, top: number}} Query */
/** @typedef {{resolve: (value: unknown) => void, reject: (failure: Failure) => void, timer: ReturnType<typeof setTimeout>, query: Query}} Waiting */

export class Relay {
  /** @param {string} scope */
  constructor(scope) {
    this.channel = new BroadcastChannel(`py-agent-search-${scope}`);
    this.self = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.count = 0;
    /** @type {Map<string, Waiting>} */
    this.waiting = new Map();
    this.channel.onmessage = ({ data }) => this.receive(data);
  }

  /**
   * Asks the leader.
   * @param {Query} query
   * @returns {Promise<unknown>}
   */
  ask(query) {
    const id = `${this.self}-${++this.count}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(
          new Failure(
            "no_leader",
            "The tab that holds the assistant does not answer; it is probably frozen in the background.",
            "Bring that tab to the front or close it, then search again.",
          ),
        );
      }, ANSWER_MS);
      this.waiting.set(id, { resolve, reject, timer, query });
      this.channel.postMessage({ type: "search", id, ...query });
    });
  }

  /**
   * Answers the queries of the other tabs from now on; and what this tab had asked the last leader, which is gone.
   * @param {(query: Query) => Promise<unknown>} search
   */
  serve(search) {
    this.search = search;
    for (const { resolve, reject, timer, query } of this.waiting.values()) {
      clearTimeout(timer);
      search(query).then(resolve, reject);
    }
    this.waiting.clear();
  }

  /** @param {any} message */
  receive(message) {
    if (message.type === "search") {
      this.search?.({ query: message.query, top: message.top }).then(
        (value) => this.channel.postMessage({ type: "result", id: message.id, value }),
        (/** @type {Failure} */ { code, message: text, hint }) =>
          this.channel.postMessage({ type: "error", id: message.id, error: { code, message: text, hint } }),
      );
      return;
    }
    const waiting = this.waiting.get(message.id);
    if (!waiting) return; // another tab's answer, or one that came too late
    this.waiting.delete(message.id);
    clearTimeout(waiting.timer);
    if (message.type === "result") waiting.resolve(message.value);
    else waiting.reject(new Failure(message.error.code, message.error.message, message.error.hint));
  }

  close() {
    this.channel.close();
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }
}
