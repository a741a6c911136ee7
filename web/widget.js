// The chat: brings the dialog and the session together. Loaded by the loader on first use, as a module of its own.
import { PyAgentError } from "./errors.js";
import { watchPageLife } from "./lifecycle.js";
import { AnswerElement, interruptedElement, passagesElement, questionElement } from "./messages.js";
import { Panel } from "./panel.js";
import { Session } from "./session.js";
import { TEXT } from "./strings.js";

/**
 * @typedef {import("./config.js").Config} Config
 * @typedef {import("../worker/protocol.js").Assets} Assets
 * @typedef {import("./messages.js").Source} Source
 * @typedef {{answer: string, sources: Source[], related: Source[], status: string}} Answer
 * @typedef {object} Mounting
 * @property {Assets} assets
 * @property {Config} config
 * @property {import("./launcher.js").Launcher} launcher
 * @property {(name: string, detail: unknown) => void} emit
 * @typedef {{id: string, answer: AnswerElement}} Running
 */

/** Search results shown while another tab answers: as many as fit the dialog without scrolling far. */
const SEARCH_TOP = 5;

/**
 * @param {Mounting} mounting
 * @returns {Widget}
 */
export function mount(mounting) {
  return new Widget(mounting);
}

export class Widget {
  /** @type {Running | null} */
  #running = null;
  /** @type {string | null} */
  #thread = null;
  /** Whether the conversation on display is the stored one; after a sleep it may not be. */
  #shown = false;

  /** @param {Mounting} mounting */
  constructor({ assets, config, launcher, emit }) {
    this.launcher = launcher;
    this.emit = emit;
    this.panel = new Panel(launcher.root, config, {
      onSend: (text) => this.#onSend(text),
      onStop: () => this.stop(),
      onFresh: () => void this.#startFresh(),
      onClose: () => this.close(),
      onRetry: () => this.session.retry(),
    });
    const { index, engine, modelUrl, baseUrl, modelName, backend, window, harness } = config;
    const settings = { index, engine, modelUrl, baseUrl, modelName, backend, window, harness };
    this.session = new Session(assets, settings, (state) => this.#onState(state));
    // Where questions go must be known before the first is asked.
    this.remote = engine === "openai" && baseUrl ? new URL(baseUrl).host : "";
    if (this.remote) this.panel.footnote.textContent = TEXT.remote(this.remote, modelName);
    this.unwatch = watchPageLife(this.session);
  }

  open() {
    this.launcher.setOpen(true);
    this.panel.open();
    this.#start();
    this.emit("open", null);
  }

  close() {
    if (!this.panel.isOpen) return;
    this.launcher.setOpen(false);
    this.panel.close(this.launcher.button);
    this.emit("close", null);
  }

  /**
   * Asks `text` and shows question and answer in the conversation.
   * @param {string} text
   * @returns {Promise<Answer>}
   */
  async ask(text) {
    const question = text.trim();
    if (!question) throw new PyAgentError("empty_question", "The question is empty.", "Ask in a few words.");
    if (this.#running) throw new PyAgentError("busy", "Another question is being answered.", "Wait for it, or stop it.");
    this.#start();
    if (this.session.state.state === "waiting") throw new PyAgentError("waiting", TEXT.waiting);
    const asked = questionElement(question);
    const answer = new AnswerElement(
      () => this.panel.follower.keep(),
      () => this.#onSend(question),
    );
    this.panel.add(asked, answer.element);
    this.panel.follower.toEnd();
    this.panel.setBusy(true);
    this.panel.announcer.turnStarts();
    answer.status(this.session.state.state === "ready" ? TEXT.sent : TEXT.loading);
    const where = { thread: this.#thread, page: location.href };
    /** @type {{turn: any}} */
    const heard = { turn: null };
    const { id, done } = this.session.ask(question, where, (event) => this.#onEvent(event, answer, heard));
    this.#running = { id, answer };
    try {
      const result = await done;
      return this.#finish(answer, heard.turn ?? result);
    } catch (thrown) {
      throw this.#giveUp(answer, PyAgentError.from(thrown));
    } finally {
      this.#running = null;
      this.panel.setBusy(false);
    }
  }

  /** Stops the answer under way. The display says so at once, whatever the harness does. */
  stop() {
    if (this.#running) this.session.stop(this.#running.id);
  }

  destroy() {
    this.unwatch();
    this.session.destroy();
    this.panel.element.remove();
  }

  #start() {
    this.session.start();
  }

  /** @param {string} text what the reader sends */
  #onSend(text) {
    if (this.#running) return;
    this.panel.clearField();
    const searching = this.session.state.state === "waiting";
    // Whatever goes wrong stands in the conversation; nobody else waits for this promise.
    const done = searching ? this.#search(text) : this.ask(text);
    done.catch(() => {});
  }

  /**
   * @param {any} event of py_agent/runner/events.py
   * @param {AnswerElement} answer
   * @param {{turn: any}} heard
   */
  #onEvent(event, answer, heard) {
    this.emit("event", event);
    if (event.type === "turn_start") this.#thread = event.thread;
    else if (event.type === "status") {
      answer.phase(event.phase);
      this.panel.announcer.phase(event.phase);
    } else if (event.type === "answer_delta") answer.append(event.text);
    else if (event.type === "answer_reset") answer.reset();
    else if (event.type === "turn_end") heard.turn = event;
  }

  /**
   * @param {AnswerElement} element
   * @param {any} turn  the `turn_end` event, or the result of the ask where that did not come
   * @returns {Answer}
   */
  #finish(element, turn) {
    if (turn.status === "failed" || turn.status === "interrupted") {
      const error = turn.error ?? { code: turn.status, message: TEXT.interrupted, hint: "" };
      throw PyAgentError.fromWire(error);
    }
    const { answer, sources, related, status } = turn;
    element.finish({ status, answer, sources, related });
    const question = element.element.previousElementSibling;
    if (question instanceof HTMLElement) this.panel.follower.showStart(question);
    this.panel.announcer.answer(element.plain, sources.length);
    const value = { answer, sources, related, status };
    this.emit("answer", value);
    return value;
  }

  /**
   * @param {AnswerElement} element
   * @param {PyAgentError} error
   */
  #giveUp(element, error) {
    if (error.code === "stopped") {
      element.stopped();
      this.panel.announcer.say(TEXT.stopped);
    } else {
      // A harness that failed has said so above the conversation: one failure is told once.
      const told = error === this.session.state.error;
      element.failed(error, !told);
      if (!told) this.emit("error", error);
    }
    return error;
  }

  /** @param {string} query */
  async #search(query) {
    this.panel.add(questionElement(query));
    this.panel.follower.toEnd();
    this.panel.announcer.turnStarts();
    try {
      const { hits } = await this.session.search(query, SEARCH_TOP);
      const element = passagesElement(hits);
      this.panel.add(element);
      this.panel.announcer.answer(element.textContent ?? "", 0);
    } catch (thrown) {
      const failed = new AnswerElement(
        () => {},
        () => this.#onSend(query),
      );
      this.panel.add(failed.element);
      this.#giveUp(failed, PyAgentError.from(thrown));
    }
  }

  async #startFresh() {
    if (this.#running) this.stop();
    this.#start();
    if (this.session.state.state === "waiting") {
      // The conversation is the other tab's: here there are only search results to clear away.
      this.panel.clear();
      return;
    }
    try {
      this.#display(await this.session.newThread());
      this.panel.focusField();
    } catch (thrown) {
      this.panel.showFailure(PyAgentError.from(thrown));
    }
  }

  /** @param {import("./session.js").State} state */
  #onState({ state, message, engine, error, timings }) {
    this.launcher.element.dataset.state = state;
    const { panel } = this;
    if (state === "loading") panel.setNotice(message || TEXT.loading);
    if (state === "waiting") panel.setNotice(TEXT.waiting);
    if (state === "suspended") this.#shown = false;
    if (state === "failed" && error) panel.showFailure(error);
    if (state === "waiting") panel.announcer.say(TEXT.waiting);
    if (state === "ready") {
      panel.setNotice();
      const local = engine?.model ? TEXT.model(engine.model) : TEXT.noModel;
      panel.footnote.textContent = this.remote ? TEXT.remote(this.remote, engine?.model ?? "") : local;
      if (!this.#running) panel.announcer.say(TEXT.ready);
      if (!this.#shown) void this.#showStored();
    }
    this.emit("state", { state, engine, error, timings });
    if (error) this.emit("error", error);
  }

  async #showStored() {
    this.#shown = true;
    try {
      this.#display(await this.session.thread());
    } catch (thrown) {
      const error = PyAgentError.from(thrown);
      // After a sleep or a restart the next `ready` asks again.
      this.#shown = false;
      if (error.code !== "interrupted" && this.session.state.state === "ready") this.panel.showFailure(error);
    }
  }

  /**
   * Shows a stored conversation; a question that was asked meanwhile stays, after it.
   * @param {{thread: string | null, messages: any[], kept: boolean, notice: string | null}} stored
   */
  #display({ thread, messages, kept, notice }) {
    this.#thread = thread;
    const running = this.#running?.answer.element;
    const asked = running?.previousElementSibling;
    this.panel.clear();
    for (const message of messages) this.panel.add(...this.#stored(message));
    if (running && asked instanceof HTMLElement) this.panel.add(asked, running);
    this.panel.follower.toEnd();
    const told = notice || (kept ? "" : TEXT.notKept);
    this.panel.setNotice(...(told ? [told] : []));
  }

  /**
   * @param {any} message a StoredMessage of py_agent/model/record.py, its sources with links
   * @returns {HTMLElement[]}
   */
  #stored({ role, content, state, status, sources, related }) {
    if (role === "user") {
      const question = questionElement(content);
      return state === "interrupted" ? [question, interruptedElement(() => this.#onSend(content))] : [question];
    }
    const answer = new AnswerElement(
      () => {},
      () => {},
    );
    answer.finish({ status: status ?? "answered", answer: content, sources: sources ?? [], related: related ?? [] });
    return [answer.element];
  }
}
