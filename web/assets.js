// Where the built files are. The build writes the map in; the loader makes its addresses absolute and hands it on.

/** @typedef {import("../worker/protocol.js").Assets} Assets */

/**
 * The asset map with every address resolved against the address of the loader, wherever the page itself is.
 * @param {Assets} assets
 * @param {string} base
 * @returns {Assets}
 */
export function resolveAssets(assets, base) {
  /** @param {string} path */
  const at = (path) => new URL(path, base).href;
  const { pyodide } = assets;
  return {
    widget: at(assets.widget),
    session: at(assets.session),
    host: at(assets.host),
    engine: at(assets.engine),
    storage: at(assets.storage),
    litertWasm: at(assets.litertWasm),
    sqliteWasm: at(assets.sqliteWasm),
    pyodide: { module: at(pyodide.module), index: at(pyodide.index), stdlib: at(pyodide.stdlib), lock: at(pyodide.lock) },
    archives: assets.archives.map((archive) => ({ ...archive, url: at(archive.url) })),
  };
}

/**
 * The script tag that brought the running script in. A module has no `document.currentScript`; what it has is its own
 * address at the top of a stack trace, and the tags of the page to compare with.
 * @returns {{tag: HTMLScriptElement | null, src: string}} src: where the script came from
 */
export function findOwnTag() {
  const current = document.currentScript;
  if (current instanceof HTMLScriptElement && current.src) return { tag: current, src: current.src };
  const traced = /\b(?:https?|file):\/\/[^\s)]+?(?=:\d+:\d+)/.exec(new Error().stack ?? "")?.[0] ?? "";
  const tags = Array.from(document.querySelectorAll("script"));
  const tag = tags.find((candidate) => candidate.src && candidate.src === traced) ?? tags.find((candidate) => candidate.dataset.index) ?? null;
  return { tag, src: traced || tag?.src || document.baseURI };
}
