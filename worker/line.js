// A line to one worker, as Python gets it: JSON strings and byte arrays in both directions, so that no proxy is made per
// message. It can be cut and spawned again; what a dead worker still sends is dropped.

import { describe } from "./failure.js";
import { watchLife } from "./lifeline.js";
import { spawn } from "./spawn.js";

/** @typedef {(json: string, body?: Uint8Array) => void} Sink */

export class Line {
  /**
   * @param {string} url
   * @param {"module" | "classic"} type
   * @param {string} name
   */
  constructor(url, type, name) {
    this.url = url;
    this.type = type;
    this.name = name;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Sink | null} */
    this.sink = null;
    /** @type {[string, Uint8Array | undefined][]} */
    this.early = [];
    /** @type {() => void} */
    this.stopWatching = () => {};
  }

  /** Spawns the worker unless one lives. */
  spawn() {
    if (this.worker) return;
    const worker = spawn(this.url, this.type, this.name);
    this.worker = worker;
    worker.onmessage = ({ data }) => {
      if (this.worker !== worker) return;
      const [message, body] = Array.isArray(data) ? data : [data, undefined];
      if (message.type === "up" && message.lock) {
        this.stopWatching = watchLife(message.lock, () => this.lose(worker, `The ${this.name} ended without a word.`));
      }
      this.deliver(JSON.stringify(message), body);
    };
    worker.onerror = (event) => {
      event.preventDefault(); // told to the harness, which tells the reader; it is no second error on the page's console
      const where = event.filename ? ` (${event.filename}:${event.lineno})` : "";
      this.lose(worker, `The ${this.name} failed: ${event.message || `its script ${this.url} did not load`}${where}.`);
    };
    worker.onmessageerror = () => this.lose(worker, `The ${this.name} sent a message that cannot be read.`);
  }

  /**
   * Python's receiver; what came before it is delivered first.
   * @param {Sink} sink
   */
  listen(sink) {
    this.sink = sink;
    for (const [json, body] of this.early.splice(0)) sink(json, body);
  }

  /**
   * @param {string} json
   * @param {Uint8Array} [body] its buffer is transferred
   */
  post(json, body) {
    this.spawn();
    const message = JSON.parse(json);
    if (body) this.worker?.postMessage([message, body], [body.buffer]);
    else this.worker?.postMessage(message);
  }

  /** Ends the worker on purpose: no `lost` is sent. The next `post` spawns a fresh one. */
  terminate() {
    this.stopWatching();
    this.stopWatching = () => {};
    this.worker?.terminate();
    this.worker = null;
  }

  /**
   * @param {Worker} worker
   * @param {string} reason
   */
  lose(worker, reason) {
    if (this.worker !== worker) return;
    this.terminate();
    this.deliver(JSON.stringify({ type: "lost", reason }));
  }

  /**
   * @param {string} json
   * @param {Uint8Array} [body]
   */
  deliver(json, body) {
    if (!this.sink) {
      this.early.push([json, body]);
      return;
    }
    try {
      this.sink(json, body);
    } catch (thrown) {
      // The Python side wraps its sink; what still comes through is a programming error and belongs on the console.
      console.error(`py-agent: the ${this.name}'s message could not be handled: ${describe(thrown)}`);
    }
  }
}
