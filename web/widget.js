// The chat: brings the dialog and the session together. Loaded by the loader on first use, as a module of its own.
import { PyAgentError } from "./errors.js";
import { watchPageLife } from "./lifecycle.js";
import { AnswerElement, interruptedElement, passagesElement, placeElement, questionElement } from "./messages.js";
import { openPage, saveFile } from "./outside.js";
import { Panel } from "./panel.js";
import { Session } from "./session.js";
import { storedElements } from "./stored.js";
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
 * @typedef {object} Running a question whose answer is under way
 * @property {string} id
 * @property {string[]} texts         what the reader asked, and added since
 * @property {HTMLElement[]} elements the same in the conversation, with what was decided meanwhile; the answer stands behind
 * @property {AnswerElement} answer
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
      onThreads: () => this.panel.showThreads(!this.panel.threads.shown, this.#thread),
      threads: {
        list: (cursor) => this.session.threads(cursor),
        search: (query) => this.session.searchThreads(query),
        open: (thread) => this.#leaveFor(() => this.session.openThread(thread)),
        load: (text) => this.#leaveFor(() => this.session.importThread(text)),
        remove: (thread) => this.#remove(thread),
        save: async (thread) => saveFile(await this.session.exportThread(thread)),
        leave: () => this.panel.showThreads(false),
      },
      onClose: () => this.close(),
      onRetry: () => this.session.retry(),
    });
    const { index, engine, modelUrl, baseUrl, modelName, tools, backend, window, harness } = config;
    const settings = { index, engine, modelUrl, baseUrl, modelName, tools, backend, window, harness };
    this.session = new Session(assets, settings, (state) => this.#onState(state));
    // Where questions go must be known before the first is asked.
    this.remote = engine === "openai" && baseUrl ? new URL(baseUrl).host : "";
    if (this.remote) this.panel.footnote.textContent = TEXT.remote(this.remote, modelName);
    this.unwatch = watchPageLife(this.session);
  }

  open() {
    this.launcher.setOpen(true);
    this.launcher.setNote("");
    this.panel.open();
    this.#start();
    this.emit("open", null);
  }

  close() {
    if (!this.panel.isOpen) return;
    this.launcher.setOpen(false);
    this.panel.close(this.launcher.button);
    if (this.panel.dock.open) this.launcher.setNote(TEXT.asks);
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
    const texts = [question];
    const asked = questionElement(question);
    const answer = new AnswerElement(
      () => this.panel.follower.keep(),
      () => this.#again(texts),
    );
    this.panel.add(asked, answer.element);
    this.panel.follower.toEnd();
    this.panel.setBusy(true);
    this.panel.announcer.turnStarts();
    answer.status(this.session.state.state === "ready" ? TEXT.sent : TEXT.loading);
    const where = { thread: this.#thread, page: location.href };
    /** @type {{turn: any, place: {link: string, title: string} | null}} */
    const heard = { turn: null, place: null };
    const { id, done } = this.session.ask(question, where, (event) => this.#onEvent(event, running, heard));
    /** @type {Running} */
    const running = { id, texts, elements: [asked], answer };
    this.#running = running;
    try {
      const result = await done;
      const value = this.#finish(running, heard.turn ?? result);
      // Only now: a page that is left before the answer is stored loses it.
      if (heard.place && openPage(heard.place.link)) this.panel.announcer.say(TEXT.opening(heard.place.title));
      return value;
    } catch (thrown) {
      throw this.#giveUp(answer, PyAgentError.from(thrown));
    } finally {
      this.#running = null;
      this.#answered(null, running);
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
    this.panel.clearField();
    if (this.#running) {
      void this.#add(text, this.#running);
      return;
    }
    const searching = this.session.state.state === "waiting";
    // Whatever goes wrong stands in the conversation; nobody else waits for this promise.
    const done = searching ? this.#search(text) : this.ask(text);
    done.catch(() => {});
  }

  /**
   * Asks once more what got no answer.
   * @param {string[]} texts           what was asked, and added
   * @param {...HTMLElement} elements  what goes away by it
   */
  #again(texts, ...elements) {
    if (this.#running) return;
    if (this.session.state.state !== "waiting") for (const element of elements) element.remove();
    this.#onSend(texts.join("\n\n"));
    this.panel.focusField();
  }

  /**
   * Adds words to the question whose answer is under way.
   * @param {string} text
   * @param {Running} running
   */
  async #add(text, running) {
    const added = questionElement(text);
    this.#insert(added, running);
    this.panel.follower.toEnd();
    try {
      await this.session.add(running.id, text);
      running.texts.push(text);
      this.panel.announcer.say(TEXT.added);
    } catch (thrown) {
      const error = PyAgentError.from(thrown);
      const remark = error.code === "turn_over" ? TEXT.tooLate : `${TEXT.notAdded} ${error.summary}`;
      const line = interruptedElement(() => this.#again([text], added, line), remark, TEXT.askNow);
      running.elements.splice(running.elements.indexOf(added), 1);
      this.panel.addBehind(running.answer.element, added, line);
      this.panel.announcer.say(remark);
    }
  }

  /**
   * @param {import("./gate.js").GateRequest} gate
   * @param {Running} running
   */
  #asks(gate, running) {
    running.answer.wait(true);
    this.panel.ask(gate, (id, value) => this.session.decide(running.id, id, value));
    if (!this.panel.isOpen) this.launcher.setNote(TEXT.asks);
  }

  /**
   * @param {import("./gate.js").GateClosed | null} closed  null: the turn has ended
   * @param {Running} running
   */
  #answered(closed, running) {
    this.launcher.setNote("");
    const line = this.panel.answered(closed);
    if (!line) return;
    this.#insert(line, running);
    running.answer.wait(false);
  }

  /**
   * Puts an element between the question and the answer that is under way.
   * @param {HTMLElement} element
   * @param {Running} running
   */
  #insert(element, running) {
    running.elements.push(element);
    running.answer.element.before(element);
    this.panel.follower.keep();
  }

  /**
   * The way to that page stands in the conversation, too: the turn may fail before it ends.
   * @param {{link: string, title: string}} place
   * @param {Running} running
   */
  #showPlace(place, running) {
    const element = placeElement(place);
    if (element) this.#insert(element, running);
  }

  /**
   * @param {any} event of py_agent/runner/events.py
   * @param {Running} running
   * @param {{turn: any, place: {link: string, title: string} | null}} heard
   */
  #onEvent(event, running, heard) {
    const { answer } = running;
    this.emit("event", event);
    if (event.type === "turn_start") this.#thread = event.thread;
    else if (event.type === "status") {
      answer.phase(event.phase);
      this.panel.announcer.phase(event.phase);
    } else if (event.type === "answer_delta") answer.append(event.text);
    else if (event.type === "answer_reset") answer.reset();
    else if (event.type === "gate_open") this.#asks(event.gate, running);
    else if (event.type === "gate_closed") this.#answered(event, running);
    else if (event.type === "navigate") {
      heard.place = event;
      this.#showPlace(event, running);
    }
    else if (event.type === "turn_end") heard.turn = event;
  }

  /**
   * @param {Running} running
   * @param {any} turn  the `turn_end` event, or the result of the ask where that did not come
   * @returns {Answer}
   */
  #finish({ answer: element, elements }, turn) {
    if (turn.status === "failed" || turn.status === "interrupted") {
      const error = turn.error ?? { code: turn.status, message: TEXT.interrupted, hint: "" };
      throw PyAgentError.fromWire(error);
    }
    const { answer, sources, related, status } = turn;
    const judge = (/** @type {"up" | "down" | null} */ verdict) => this.session.feedback(turn.message, verdict);
    element.finish({ status, answer, sources, related }, turn.message ? { verdict: null, judge } : null);
    this.panel.follower.showStart(elements[0]);
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

  /**
   * Shows another conversation. An answer under way is stopped once the other one is there.
   * @param {() => Promise<any>} load
   */
  async #leaveFor(load) {
    const stored = await load();
    if (this.#running) this.stop();
    await new Promise((done) => setTimeout(done)); // what was stopped says so in the conversation that now goes
    this.panel.showThreads(false);
    this.#display(stored);
  }

  /** @param {string | null} thread  null: everything that is stored */
  async #remove(thread) {
    await this.session.deleteThread(thread);
    if (thread === null || thread === this.#thread) this.#display(await this.session.thread());
  }

  async #startFresh() {
    this.panel.showThreads(false);
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
    panel.threadsButton.hidden = state !== "ready";
    if (state !== "ready") panel.showThreads(false);
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
    const running = this.#running;
    this.panel.clear();
    const again = (/** @type {string[]} */ texts, /** @type {HTMLElement[]} */ ...elements) => this.#again(texts, ...elements);
    this.panel.add(...storedElements(messages, { again, judge: (id, verdict) => this.session.feedback(id, verdict) }));
    if (running) this.panel.add(...running.elements, running.answer.element);
    this.panel.follower.toEnd();
    const told = notice || (kept ? "" : TEXT.notKept);
    this.panel.setNotice(...(told ? [told] : []));
  }
}
