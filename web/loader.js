// The script tag: reads its settings, shows the launcher, and fetches everything else only when it is first wanted.
import { findOwnTag, resolveAssets } from "./assets.js";
import { editDistance, readOptions, readTag } from "./config.js";
import { PyAgentError } from "./errors.js";
import { Launcher } from "./launcher.js";
import { TEXT } from "./strings.js";

/**
 * @typedef {import("./config.js").Config} Config
 * @typedef {import("../worker/protocol.js").Assets} Assets
 * @typedef {import("./widget.js").Widget} Widget
 * @typedef {import("./widget.js").Answer} Answer
 * @typedef {{config: Config, launcher: Launcher, widget: Promise<Widget> | null, ended: boolean}} Instance
 */

/** @type {Assets} written in by the build, addresses relative to the built loader */
const RELATIVE_ASSETS = __PY_AGENT_ASSETS__;

/** What `PyAgent.on` can listen to; docs/javascript-api.md says when each comes. */
const EVENTS = ["open", "close", "state", "event", "answer", "error"];

/** Marks our own `window.PyAgent`, so that a second copy of this script knows the first. */
const MARK = "isPyAgent";

/** @typedef {typeof window & {PyAgent?: any}} HostWindow */

const host = /** @type {HostWindow} */ (window);

// The same tag twice, or run again by a router after an in-page navigation: the first one goes on.
if (!host.PyAgent?.[MARK]) host.PyAgent = start();

function start() {
  const { tag, src } = findOwnTag();
  const assets = resolveAssets(RELATIVE_ASSETS, src);
  /** @type {Map<string, Set<(detail: any) => void>>} */
  const listeners = new Map(EVENTS.map((name) => [name, new Set()]));
  /** @type {Instance | null} */
  let instance = null;
  let failures = 0;

  /**
   * @param {string} name
   * @param {unknown} detail
   */
  function emit(name, detail) {
    for (const listener of listeners.get(name) ?? []) {
      try {
        listener(detail);
      } catch (error) {
        // The page's own bug: it belongs on the console, and must not end our turn.
        setTimeout(() => {
          throw error;
        });
      }
    }
  }

  /** @param {Config} config */
  function begin(config) {
    const launcher = new Launcher(config, () => void open().catch(() => {}));
    instance = { config, launcher, widget: null, ended: false };
    const current = instance;
    const attach = () => current.ended || launcher.attach();
    // In <head> there is no body yet, and an element put in now would stand before it.
    if (document.body) attach();
    else document.addEventListener("DOMContentLoaded", attach, { once: true });
  }

  function running() {
    if (instance) return instance;
    throw new PyAgentError(
      "not_started",
      "PyAgent has not been started on this page.",
      'Put data-index on its script tag, or call PyAgent.init({ index: "/agent/index/manifest.json" }).',
    );
  }

  /** @param {Instance} current */
  function widgetOf(current) {
    current.widget ??= loadWidget(current);
    return current.widget;
  }

  /**
   * @param {Instance} current
   * @returns {Promise<Widget>}
   */
  async function loadWidget(current) {
    const { config, launcher } = current;
    launcher.setNote("");
    launcher.setBusy(true);
    try {
      // A module that failed to load stays failed under its address for as long as the page lives.
      const address = failures === 0 ? assets.widget : `${assets.widget}?again=${failures}`;
      /** @type {typeof import("./widget.js")} */
      const module = await import(address);
      if (current.ended) throw new PyAgentError("destroyed", "PyAgent was destroyed while it was loading.");
      return module.mount({ assets, config, launcher, emit });
    } catch (error) {
      current.widget = null;
      failures++;
      const failure =
        error instanceof PyAgentError
          ? error
          : new PyAgentError("widget_missing", `${TEXT.widgetFailed} ${assets.widget} did not load.`, TEXT.widgetHint);
      if (!current.ended) {
        launcher.setNote(failure.message);
        launcher.element.dataset.state = "failed";
        emit("error", failure);
      }
      throw failure;
    } finally {
      launcher.setBusy(false);
    }
  }

  /** Opens the dialog; starts what it needs. Resolves when it is open. */
  async function open() {
    (await widgetOf(running())).open();
  }

  const api = {
    [MARK]: true,

    /**
     * Starts the chat with these settings (web/config.js lists them).
     * @param {Record<string, unknown>} options
     * @throws {PyAgentError} `config_error`: unknown key, bad value, or other settings than the ones it runs with
     */
    init(options) {
      const config = readOptions(options, document.baseURI);
      if (!instance) begin(config);
      else if (JSON.stringify(config) !== JSON.stringify(instance.config)) {
        throw new PyAgentError("config_error", "PyAgent already runs on this page with other settings.", "Call PyAgent.destroy() first.");
      }
      return api;
    },

    open,

    /** Closes the dialog; a running answer goes on. */
    close() {
      running()
        .widget?.then((widget) => widget.close())
        .catch(() => {}); // what did not load needs no closing, and has said so
    },

    /**
     * Asks a question, opening nothing. Starts what it needs.
     * @param {string} text
     * @returns {Promise<Answer>}
     * @throws {PyAgentError} with the code of what went wrong; `stopped` when the reader stopped it
     */
    async ask(text) {
      return (await widgetOf(running())).ask(text);
    },

    /**
     * Calls `listener` on every `event`; returns a function that ends that.
     * @param {string} event
     * @param {(detail: any) => void} listener
     */
    on(event, listener) {
      const set = listeners.get(event);
      if (!set) {
        const near = EVENTS.reduce((best, name) => (editDistance(event, name) < editDistance(event, best) ? name : best));
        throw new PyAgentError("config_error", `There is no event "${event}".`, `Did you mean "${near}"? The events are ${EVENTS.join(", ")}.`);
      }
      set.add(listener);
      return () => void set.delete(listener);
    },

    /** Ends everything and takes the launcher away. `init` may start it again. */
    destroy() {
      if (!instance) return;
      const ending = instance;
      instance = null;
      ending.ended = true;
      ending.widget?.then((widget) => widget.destroy()).catch(() => {});
      ending.launcher.remove();
    },
  };

  try {
    const config = tag && readTag(tag, document.baseURI, (warning) => console.warn(warning));
    if (config) begin(config);
  } catch (error) {
    // Thrown from a script tag it would say the same, but with our stack instead of the owner's mistake in front.
    console.error(`PyAgent: ${PyAgentError.from(error).message}`);
  }
  return api;
}
