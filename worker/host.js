// The harness host: leader election, then Pyodide with py_agent, and the lines between page, harness, engine and
// storage. The session worker runs it with `self` as the port; the page runs the same code for `data-harness="main"`.

import { Stopwatch, addLatePackages, addWheel, bootPython, fetchIndex } from "./boot.js";
import { Failure, toWire } from "./failure.js";
import { askForLead, directoryOf, scopeOf } from "./leader.js";
import { Line } from "./line.js";
import { PROTOCOL_VERSION } from "./protocol.js";
import { Relay } from "./relay.js";
import { fetchWheel } from "./sitetools.js";

// For pages that bring their own Python code: Python with our packages, and lines to the workers.
export { Stopwatch, addLatePackages, bootPython } from "./boot.js";
export { Line } from "./line.js";

/** @typedef {import("./protocol.js").Assets} Assets */
/** @typedef {import("./protocol.js").SessionConfig} SessionConfig */
/** @typedef {import("./protocol.js").WireError} WireError */
/** @typedef {{postMessage: (message: any) => void, onmessage: ((event: MessageEvent) => void) | null}} HostPort */

const WAITING = {
  code: "waiting",
  message: "The assistant is open in another tab of this site.",
  hint: "Ask there, or close that tab and go on here. Search works here meanwhile.",
};

/**
 * @param {HostPort} port the page's end
 * @returns {{terminate: () => void}} ends the harness and its workers, gives the lead back
 */
export function startHost(port) {
  const host = new Host(port);
  port.onmessage = ({ data }) => host.receive(data);
  return { terminate: () => host.terminate() };
}

class Host {
  /** @param {HostPort} port */
  constructor(port) {
    this.port = port;
    /** @type {"new" | "loading" | "waiting" | "ready" | "failed" | "ended"} */
    this.state = "new";
    /** @type {any[]} */
    this.queue = [];
    /** @type {WireError | null} */
    this.failure = null;
    /** @type {((json: string) => void) | null} */
    this.python = null;
    /** @type {Line[]} */
    this.lines = [];
    /** @type {Relay | null} */
    this.relay = null;
    /** @type {() => void} */
    this.giveLeadBack = () => {};
    /** @type {Map<string, {resolve: (value: unknown) => void, reject: (failure: Failure) => void}>} */
    this.relayed = new Map();
    this.relayCount = 0;
  }

  /** @param {any} message from the page */
  receive(message) {
    if (this.state === "ended") return;
    if (message.type === "start") this.start(message);
    else if (this.state === "ready") this.python?.(JSON.stringify(message));
    else if (this.state === "failed") this.refuse(message, /** @type {WireError} */ (this.failure));
    else if (this.state !== "waiting") this.queue.push(message);
    else if (message.type === "search") this.searchElsewhere(message);
    else this.refuse(message, WAITING);
  }

  /** @param {{version: number, assets: Assets, config: SessionConfig}} start */
  start({ version, assets, config }) {
    if (this.state !== "new") return;
    if (version !== PROTOCOL_VERSION) {
      const text = `The page speaks version ${version} of the protocol, the worker version ${PROTOCOL_VERSION}: they are of two builds.`;
      this.fail(new Failure("version", text, "Reload the page; if it stays, upload the whole folder of py-agent.js again."));
      return;
    }
    this.announce("loading", { message: "Starting" });
    const scope = scopeOf(config.index);
    this.relay = new Relay(scope);
    this.giveLeadBack = askForLead(scope, {
      onWait: () => {
        this.announce("waiting", WAITING);
        for (const message of this.queue.splice(0)) this.receive(message);
      },
      onLead: () => {
        if (this.state === "waiting") this.announce("loading", { message: "Starting" });
        this.boot(assets, config, directoryOf(scope)).catch((thrown) => this.fail(thrown));
      },
    });
  }

  /**
   * @param {Assets} assets
   * @param {SessionConfig} config
   * @param {string} directory
   */
  async boot(assets, config, directory) {
    const watch = new Stopwatch();
    const storage = this.line(assets.storage, "module", "storage worker");
    const engine = this.line(assets.engine, "classic", "engine worker");
    storage.spawn(); // its script loads while Pyodide does
    if (config.engine === "litert") engine.spawn();
    const [pyodide, index] = await Promise.all([
      bootPython(assets, watch, (python) => {
        // Unpacking and importing make many objects and no garbage: collecting is a tenth of their time. `start` turns it on.
        python.runPython("import gc; gc.disable()");
        // Python now unpacks and imports on this thread, and the database can open on another. Python asks for the same
        // again and gets the answer at once; what goes wrong here goes wrong there too, where it is told.
        storage.post(JSON.stringify({ type: "open", id: "early", wasm: assets.sqliteWasm, directory }));
      }),
      watch.time("index", () => fetchIndex(config.index)),
    ]);
    if (this.ended()) return;
    const lines = { storage, engine };
    const bridge = {
      /** @type {(json: string) => void} */
      send: (json) => this.fromPython(JSON.parse(json)),
      /** @type {(receive: (json: string) => void) => void} */
      listen: (receive) => (this.python = receive),
      /** @type {(name: "storage" | "engine") => Line} */
      line: (name) => lines[name],
      siteTools: () =>
        fetchWheel(String(config.tools)).then(
          (wheel) => JSON.stringify({ folder: addWheel(pyodide, wheel) }),
          (thrown) => JSON.stringify({ error: toWire(thrown) }),
        ),
      // As text, like everything that crosses: empty, or what went wrong.
      late: () => addLatePackages(assets, pyodide).then(() => "", (thrown) => JSON.stringify(toWire(thrown))),
      manifest: index.manifest,
      /** @type {(name: string) => Promise<Uint8Array | string>} the file, or what went wrong */
      file: (name) => index.file(name).catch((thrown) => JSON.stringify(toWire(thrown))),
    };
    const settings = { ...config, directory, sqliteWasm: assets.sqliteWasm, litertWasm: assets.litertWasm };
    const module = await watch.time("import", () => pyodide.pyimport("py_agent.browser.host"));
    const answer = JSON.parse(await watch.time("harness", () => module.start(bridge, JSON.stringify(settings))));
    if (this.ended()) return;
    if (answer.error) throw new Failure(answer.error.code, answer.error.message, answer.error.hint);
    this.announce("ready", { engine: answer.engine, timings: { ...watch.total(), ...answer.timings } });
    this.relay?.serve((query) => this.searchHere(query));
    for (const message of this.queue.splice(0)) this.receive(message);
  }

  /**
   * @param {string} url
   * @param {"module" | "classic"} type
   * @param {string} name
   */
  line(url, type, name) {
    const line = new Line(url, type, name);
    this.lines.push(line);
    return line;
  }

  /** @param {any} message what Python sends: to the page, or the answer to a query of another tab */
  fromPython(message) {
    const waiting = this.relayed.get(message.id);
    if (!waiting) {
      this.post(message);
      return;
    }
    this.relayed.delete(message.id);
    if (message.type === "result") waiting.resolve(message.value);
    else waiting.reject(new Failure(message.error.code, message.error.message, message.error.hint));
  }

  /**
   * Another tab's query.
   * @param {import("./relay.js").Query} query
   * @returns {Promise<unknown>}
   */
  searchHere(query) {
    const id = `relay-${++this.relayCount}`;
    return new Promise((resolve, reject) => {
      this.relayed.set(id, { resolve, reject });
      this.python?.(JSON.stringify({ type: "search", id, ...query }));
    });
  }

  /** @param {{id: string, query: string, top: number}} message */
  searchElsewhere({ id, query, top }) {
    this.relay?.ask({ query, top }).then(
      (value) => this.post({ type: "result", id, value }),
      (failure) => this.post({ type: "error", id, error: toWire(failure) }),
    );
  }

  /**
   * @param {"loading" | "waiting" | "ready" | "failed"} state
   * @param {Record<string, unknown>} details
   */
  announce(state, details) {
    if (this.state === "ended") return;
    this.state = state;
    const empty = { message: "", code: null, hint: "", engine: null, timings: null };
    this.post({ type: "state", state, ...empty, ...details });
  }

  /** @param {unknown} thrown */
  fail(thrown) {
    if (this.state === "ended") return;
    this.failure = toWire(thrown);
    this.announce("failed", this.failure);
    for (const message of this.queue.splice(0)) this.refuse(message, this.failure);
    this.release();
  }

  /**
   * @param {{id?: string}} message
   * @param {WireError} error
   */
  refuse(message, error) {
    if (message.id !== undefined) this.post({ type: "error", id: message.id, error });
  }

  /** @param {any} message */
  post(message) {
    if (this.state !== "ended") this.port.postMessage(message);
  }

  ended() {
    return this.state === "ended";
  }

  /** A failed host keeps nothing that another tab could use. */
  release() {
    for (const line of this.lines) line.terminate();
    this.relay?.close();
    this.giveLeadBack();
  }

  terminate() {
    if (this.state === "ended") return;
    this.python?.(JSON.stringify({ type: "close" }));
    this.state = "ended";
    this.release();
  }
}
