// Pyodide's loader as one script, with its glue under a name that every static host compresses (site/bundle/core.py).
import { loadPyodide as load, version } from "pyodide";

export { version };

/**
 * `loadPyodide` of Pyodide itself.
 * @param {{indexURL: string, [option: string]: unknown}} config `indexURL`: absolute, with a trailing slash
 */
export async function loadPyodide(config) {
  const glue = import(new URL("pyodide.asm.js", config.indexURL).href);
  glue.catch(() => {}); // awaited below; until then it must not count as unhandled
  // Handed over as a promise in a function: Pyodide asks for its WebAssembly and library while the glue still loads.
  /** @param {object} settings */
  const createPyodideModule = async (settings) => (await glue).default(settings);
  return load({ createPyodideModule, ...config });
}
