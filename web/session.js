// The page's side of `worker/protocol.js`: one harness, started on first use, with every question answered exactly once.
import { PROTOCOL_VERSION } from "../worker/protocol.js";
import { PyAgentError } from "./errors.js";
import { openLine } from "./line.js";

/**
 * @typedef {import("../worker/protocol.js").Assets} Assets
 * @typedef {import("../worker/protocol.js").SessionConfig} SessionConfig
 * @typedef {"idle" | "loading" | "waiting" | "ready" | "failed" | "suspended"} StateName
 * @typedef {{name: string, model: string | null}} EngineInfo
 * @typedef {object} State
 * @property {StateName} state
 * @property {string} message            what it is doing, in its own words
 * @property {EngineInfo | null} engine  once it is ready
 * @property {PyAgentError | null} error why it failed
 * @property {Record<string, number> | null} timings ms by boot phase, once it is ready
 */

/**
 * @typedef {object} Entry
 * @property {any} message
 * @property {(value: any) => void} resolve
 * @property {(error: PyAgentError) => void} reject
 * @property {((event: any) => void) | null} onEvent
 * @property {boolean} sent
 */

/** Python that has not ended a stopped turn after this long hangs: in a worker it then loses its life (ms). */
export const STOP_GRACE_MS = 1_000;

/** Requests that the next questions wait for: they read or change the conversation that a question joins. */
const ORDERED = new Set(["thread", "new_thread", "open_thread", "import_thread", "delete_thread"]);

export class Session {
  /** @type {State} */
  #state = { state: "idle", message: "", engine: null, error: null, timings: null };
  /** @type {import("./line.js").Line | null} */
  #line = null;
  /** @type {Map<string, Entry>} */
  #entries = new Map();
  /** @type {Map<string, ReturnType<typeof setTimeout>>} asks that were stopped and have not ended yet */
  #stopping = new Map();
  #count = 0;

  /**
   * @param {Assets} assets
   * @param {SessionConfig} config
   * @param {(state: State) => void} onState
   */
  constructor(assets, config, onState) {
    this.assets = assets;
    this.config = config;
    this.onState = onState;
  }

  get state() {
    return this.#state;
  }

  /** Starts the harness, unless it has been. */
  start() {
    if (this.#line) return;
    this.#line = openLine(this.assets, this.config.harness, {
      receive: (message) => this.#receive(message),
      fail: (error) => this.#fail(error),
    });
    this.#enter("loading");
    this.#line.post({ type: "start", version: PROTOCOL_VERSION, assets: this.assets, config: this.config });
  }

  /** Starts it again after a failure. */
  retry() {
    this.#hangUp();
    this.start();
  }

  /**
   * Ends the harness at once because the page is going to sleep or away; `resume` starts it again. A frozen page that
   * kept its locks and files would block the site's other tabs.
   */
  suspend() {
    if (!this.#line) return;
    this.#hangUp();
    this.#rejectAll(new PyAgentError("interrupted", "The page was left before the answer was complete.", "Ask again."));
    this.#enter("suspended");
  }

  /** Starts what `suspend` ended. */
  resume() {
    if (this.#state.state === "suspended") this.start();
  }

  destroy() {
    this.#hangUp();
    this.#rejectAll(new PyAgentError("destroyed", "The chat was taken off the page.", ""));
    this.#enter("idle");
  }

  /**
   * @param {string} text
   * @param {{thread: string | null, page: string}} where
   * @param {(event: any) => void} onEvent
   * @returns {{id: string, done: Promise<any>}} done: the `result` of the ask
   */
  ask(text, where, onEvent) {
    return this.#request({ type: "ask", text, ...where }, onEvent);
  }

  /**
   * Ends an ask as far as the page is concerned: from here on nothing of it arrives any more. Its promise is rejected
   * with the code `stopped`.
   * @param {string} ask
   */
  stop(ask) {
    const entry = this.#entries.get(ask);
    if (!entry) return;
    this.#entries.delete(ask);
    const stopped = new PyAgentError("stopped", "The answer was stopped.");
    entry.reject(stopped);
    this.#rejectAll(stopped, ({ message, sent }) => message.ask === ask && !sent);
    if (!entry.sent) return;
    this.#stopping.set(
      ask,
      setTimeout(() => this.#onHang(ask), STOP_GRACE_MS),
    );
    // What it answers does not matter: the end of the ask itself is what counts.
    this.#request({ type: "stop", ask }).done.catch(() => {});
  }

  /**
   * Answers what a turn asks.
   * @param {string} ask
   * @param {string} gate
   * @param {boolean | string | null} value  null: no answer
   * @returns {Promise<unknown>}
   */
  decide(ask, gate, value) {
    return this.#request({ type: "decide", ask, gate, value }).done;
  }

  /**
   * Adds words to a question whose answer is under way.
   * @param {string} ask
   * @param {string} text
   * @returns {Promise<unknown>}
   */
  add(ask, text) {
    return this.#request({ type: "add", ask, text }).done;
  }

  /**
   * @param {string} query
   * @param {number} top
   * @returns {Promise<any>}
   */
  search(query, top) {
    return this.#request({ type: "search", query, top }).done;
  }

  /** The latest conversation. @returns {Promise<any>} */
  thread() {
    return this.#request({ type: "thread" }).done;
  }

  /**
   * A page of the list of conversations.
   * @param {string | null} cursor  `next` of the page before
   * @returns {Promise<any>}
   */
  threads(cursor) {
    return this.#request({ type: "threads", top: null, cursor }).done;
  }

  /** @param {string} query @returns {Promise<any>} */
  searchThreads(query) {
    return this.#request({ type: "search_threads", query, top: null }).done;
  }

  /** Another conversation. @param {string} thread @returns {Promise<any>} */
  openThread(thread) {
    return this.#request({ type: "open_thread", thread }).done;
  }

  /** @param {string | null} thread  null: everything that is stored @returns {Promise<any>} */
  deleteThread(thread) {
    return this.#request({ type: "delete_thread", thread }).done;
  }

  /** @param {string} thread @returns {Promise<{name: string, text: string}>} */
  exportThread(thread) {
    return this.#request({ type: "export_thread", thread }).done;
  }

  /** @param {string} text  of an exported file @returns {Promise<any>} the conversation */
  importThread(text) {
    return this.#request({ type: "import_thread", text }).done;
  }

  /** @param {string} message @param {"up" | "down" | null} verdict  null takes it back @returns {Promise<any>} */
  feedback(message, verdict) {
    return this.#request({ type: "feedback", message, verdict, text: "" }).done;
  }

  /** An empty conversation. @returns {Promise<any>} */
  newThread() {
    return this.#request({ type: "new_thread" }).done;
  }

  /**
   * @param {any} body
   * @param {((event: any) => void) | null} onEvent
   * @returns {{id: string, done: Promise<any>}}
   */
  #request(body, onEvent = null) {
    const id = `page-${++this.#count}`;
    const done = new Promise((resolve, reject) => {
      this.#entries.set(id, { message: { ...body, id }, resolve, reject, onEvent, sent: false });
    });
    this.#flush();
    return { id, done };
  }

  /** Sends what may be sent now, in order. */
  #flush() {
    for (const entry of this.#entries.values()) {
      if (entry.sent || !this.#maySend(entry.message)) continue;
      entry.sent = true;
      this.#line?.post(entry.message);
    }
  }

  /** @param {{type: string, ask?: string}} message */
  #maySend({ type, ask }) {
    const { state } = this.#state;
    if (type === "search") return state === "ready" || state === "waiting";
    if (state !== "ready") return false;
    // What belongs to a question goes after it.
    if (ask) return this.#entries.get(ask)?.sent ?? true;
    if (type !== "ask") return true;
    const ordered = Array.from(this.#entries.values()).some((entry) => ORDERED.has(entry.message.type));
    return !ordered && this.#stopping.size === 0;
  }

  /** @param {any} message */
  #receive(message) {
    if (message.type === "state") {
      this.#onState(message);
      return;
    }
    const entry = this.#entries.get(message.id);
    if (message.type === "event") {
      if (message.event.type === "turn_end") this.#onStopped(message.id);
      entry?.onEvent?.(message.event);
      return;
    }
    this.#onStopped(message.id);
    if (!entry) return;
    this.#entries.delete(message.id);
    if (message.type === "result") entry.resolve(message.value);
    else entry.reject(PyAgentError.fromWire(message.error));
    this.#flush();
  }

  /** @param {any} message */
  #onState({ state, engine, timings, code, message, hint }) {
    if (state === "failed") {
      this.#fail(new PyAgentError(code, message, hint));
      return;
    }
    this.#enter(state, { message: message ?? "", engine: engine ?? null, timings: timings ?? null });
    if (state === "waiting") {
      const refusal = new PyAgentError(code ?? "waiting", message, hint);
      this.#rejectAll(refusal, ({ message: { type, ask } }) => type === "ask" || ask !== undefined);
    }
    this.#flush();
  }

  /** @param {PyAgentError} error */
  #fail(error) {
    this.#hangUp();
    this.#enter("failed", { error });
    this.#rejectAll(error);
  }

  /** @param {string} ask an ask that may have been stopped, and has now ended */
  #onStopped(ask) {
    clearTimeout(this.#stopping.get(ask));
    if (this.#stopping.delete(ask)) this.#flush();
  }

  /** @param {string} ask */
  #onHang(ask) {
    this.#stopping.delete(ask);
    // On the page's own thread there is nothing to terminate: when this runs, Python has given the thread back.
    if (this.config.harness === "main") {
      this.#flush();
      return;
    }
    this.#hangUp();
    const lost = new PyAgentError("interrupted", "The chat had to be restarted because an answer did not end.", "Try again.");
    this.#rejectAll(lost, ({ sent }) => sent);
    this.start();
  }

  #hangUp() {
    this.#line?.close();
    this.#line = null;
    for (const timer of this.#stopping.values()) clearTimeout(timer);
    this.#stopping.clear();
  }

  /**
   * @param {PyAgentError} error
   * @param {(entry: Entry) => boolean} which
   */
  #rejectAll(error, which = () => true) {
    for (const [id, entry] of this.#entries) {
      if (!which(entry)) continue;
      this.#entries.delete(id);
      entry.reject(error);
    }
  }

  /**
   * @param {StateName} state
   * @param {Partial<State>} more
   */
  #enter(state, more = {}) {
    this.#state = { message: "", engine: null, error: null, timings: null, ...more, state };
    this.onState(this.#state);
  }
}
