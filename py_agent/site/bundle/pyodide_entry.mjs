// Pyodide's loader as one script, with its glue under a name that every static host compresses (site/bundle/core.py).
import { loadPyodide as load, version } from "pyodide";

export { version };

/**
 * `loadPyodide` of Pyodide itself.
 * @param {{indexURL: string, [option: string]: unknown}} config `indexURL`: absolute, with a trailing slash
 */
export async function loadPyodide(config) {
  const glue = new URL("pyodide.asm.js", config.indexURL).href;
  const { default: createPyodideModule } = await import(glue);
  return load({ createPyodideModule, ...config });
}
