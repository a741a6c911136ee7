// The page's line to the harness, whichever host it runs in: a worker, or (data-harness="main") this very thread.
import { PyAgentError } from "./errors.js";
import { POLICY_NAME, trustedScript } from "./trusted.js";

/**
 * @typedef {import("../worker/protocol.js").Assets} Assets
 * @typedef {{receive: (message: any) => void, fail: (error: PyAgentError) => void}} Ends
 * @typedef {{post: (message: object) => void, close: () => void}} Line
 */

/** A worker's first word may wait for its script over a slow connection (session.js is small), but not longer. */
export const FIRST_WORD_MS = 20_000;

/**
 * Opens a line. Its first failure, and nothing after that, is told through `fail`.
 * @param {Assets} assets
 * @param {"worker" | "main"} harness
 * @param {Ends} ends
 * @returns {Line}
 */
export function openLine(assets, harness, ends) {
  return harness === "main" ? new MainLine(assets.host, ends) : new WorkerLine(assets.session, ends);
}

class WorkerLine {
  /** @type {Worker | null} */
  #worker = null;
  #heard = false;
  #closed = false;
  #viaBlob;
  /** @type {object[]} posted before a worker stood, or to one that never answered */
  #unheard = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} url
   * @param {Ends} ends
   */
  constructor(url, ends) {
    this.url = url;
    this.ends = ends;
    // A worker's script must be of the page's own origin; a blob of ours may import it from anywhere that sends CORS.
    this.#viaBlob = new URL(url).origin !== location.origin;
    this.blocked = /** @type {string | null} */ (null);
    this.onViolation = (/** @type {SecurityPolicyViolationEvent} */ event) => {
      this.blocked = event.effectiveDirective;
    };
    document.addEventListener("securitypolicyviolation", this.onViolation);
    this.#timer = setTimeout(() => this.#fail(silent(url)), FIRST_WORD_MS);
    this.#spawn();
  }

  #spawn() {
    try {
      const address = this.#viaBlob ? blobThatImports(this.url) : this.url;
      this.#worker = new Worker(trustedScript(address), { type: "module", name: "py-agent session" });
    } catch (thrown) {
      // A browser without module workers, or one that throws where others send an error event.
      void this.#onSilentDeath(thrown instanceof Error ? thrown.message : String(thrown));
      return;
    }
    const worker = this.#worker;
    worker.onmessage = ({ data }) => {
      if (this.#closed || worker !== this.#worker) return;
      if (!this.#heard) this.#settle();
      this.ends.receive(data);
    };
    worker.onmessageerror = () => this.#fail(garbled());
    worker.onerror = (event) => {
      if (worker !== this.#worker || this.#closed) return;
      if (event.message) this.#fail(crashed(event.message));
      else if (!this.#heard) void this.#onSilentDeath("");
    };
    for (const message of this.#unheard) worker.postMessage(message);
  }

  #settle() {
    this.#heard = true;
    this.#unheard = [];
    clearTimeout(this.#timer);
    document.removeEventListener("securitypolicyviolation", this.onViolation);
  }

  /**
   * The worker never came up, and a browser does not say why: find out.
   * @param {string} thrown
   */
  async #onSilentDeath(thrown) {
    this.#worker?.terminate();
    this.#worker = null;
    const problem = await lookAt(this.url);
    if (this.#closed) return;
    if (!problem && !this.#viaBlob) {
      // The file is there, so a policy stopped it; many policies allow `worker-src blob:` and nothing else.
      this.#viaBlob = true;
      this.#spawn();
      return;
    }
    this.#fail(problem ?? refused(this.url, this.blocked, thrown));
  }

  /** @param {PyAgentError} error */
  #fail(error) {
    if (this.#closed) return;
    this.close();
    this.ends.fail(error);
  }

  /** @param {object} message */
  post(message) {
    if (this.#closed) return;
    if (!this.#heard) this.#unheard.push(message);
    this.#worker?.postMessage(message);
  }

  /** Ends the worker and all that it started, at once: page-life handlers get no second chance. */
  close() {
    this.#closed = true;
    this.#settle();
    this.#worker?.terminate();
    this.#worker = null;
  }
}

class MainLine {
  #closed = false;
  #heard = false;
  /** @type {{terminate: () => void} | null} */
  #host = null;

  /**
   * @param {string} url
   * @param {Ends} ends
   */
  constructor(url, ends) {
    this.url = url;
    this.ends = ends;
    this.channel = new MessageChannel();
    this.channel.port1.onmessage = ({ data }) => {
      if (this.#closed) return;
      this.#heard = true;
      this.ends.receive(data);
    };
    this.timer = setTimeout(() => !this.#heard && this.#fail(silent(url)), FIRST_WORD_MS);
    void this.#load();
  }

  async #load() {
    try {
      const { startHost } = await import(this.url);
      if (!this.#closed) this.#host = startHost(this.channel.port2);
    } catch (thrown) {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      this.#fail((await lookAt(this.url)) ?? refused(this.url, null, text));
    }
  }

  /** @param {PyAgentError} error */
  #fail(error) {
    if (this.#closed) return;
    this.close();
    this.ends.fail(error);
  }

  /** @param {object} message */
  post(message) {
    if (!this.#closed) this.channel.port1.postMessage(message);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.timer);
    this.#host?.terminate();
    this.channel.port1.close();
  }
}

/**
 * The address of a small worker of this origin that imports `url`. It keeps what is posted to it until the import has
 * come: messages to a worker without a listener are lost. A static import would die without a word under some policies.
 * @param {string} url
 */
function blobThatImports(url) {
  const code = `const early = [];
const keep = (event) => early.push(event.data);
self.addEventListener("message", keep);
import(${JSON.stringify(url)}).then(() => {
  self.removeEventListener("message", keep);
  for (const data of early) self.dispatchEvent(new MessageEvent("message", { data }));
}, (error) => setTimeout(() => { throw error; }));`;
  return URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
}

/**
 * What is wrong with a file that did not load, by asking for it; null when it is there.
 * @param {string} url
 */
async function lookAt(url) {
  let response;
  try {
    response = await fetch(url);
  } catch {
    return new PyAgentError(
      "asset_missing",
      `A part of the chat could not be fetched: ${url}.`,
      "Check the connection. On another host it needs CORS; a Content-Security-Policy must allow it in connect-src.",
    );
  }
  void response.body?.cancel();
  if (!response.ok) {
    return new PyAgentError(
      "asset_missing",
      `A part of the chat is missing on the server: ${url} (HTTP ${response.status}).`,
      "Upload the whole folder that py-agent.js lies in.",
    );
  }
  const type = response.headers.get("content-type") ?? "";
  if (/javascript/.test(type)) return null;
  return new PyAgentError(
    "asset_type",
    `The server sends ${url} as "${type}", and browsers run only JavaScript types as modules.`,
    "Serve .js files as text/javascript; a page in its place means that the file is missing.",
  );
}

/**
 * @param {string} url
 * @param {string | null} directive
 * @param {string} thrown
 */
function refused(url, directive, thrown) {
  if (directive?.includes("trusted-types")) {
    return new PyAgentError(
      "csp",
      `This page's Content-Security-Policy (${directive}) does not let the chat start its worker.`,
      `Add the policy name to it: trusted-types ${POLICY_NAME}.`,
    );
  }
  if (directive) {
    return new PyAgentError(
      "csp",
      `This page's Content-Security-Policy (${directive}) does not let the chat start its worker.`,
      `Allow it: worker-src 'self' blob:, and ${new URL(url).origin} in script-src with 'wasm-unsafe-eval'.`,
    );
  }
  return new PyAgentError(
    "worker_refused",
    `The browser did not start the chat's worker${thrown ? `: ${thrown}` : ""}.`,
    "A Content-Security-Policy must allow it in worker-src; very old browsers have no module workers.",
  );
}

/** @param {string} url */
function silent(url) {
  return new PyAgentError(
    "no_answer",
    `The chat's worker did not answer within ${FIRST_WORD_MS / 1000} seconds (${url}).`,
    "Try again; if it stays, look for blocked requests on the browser's console.",
  );
}

/** @param {string} message */
function crashed(message) {
  return new PyAgentError("worker_crashed", `The chat's worker stopped with an error: ${message}.`, "Try again.");
}

function garbled() {
  return new PyAgentError("worker_crashed", "The chat's worker sent something unreadable.", "Reload the page.");
}
