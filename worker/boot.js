// Booting Python: fetch what is needed side by side, start Pyodide, unpack the archives, hand over to
// py_agent.browser.host. Every failure gets its own name: a reader's screenshot must be enough to find the cause.

import { Failure, describe } from "./failure.js";
import { fetchAsset, fetchBytes, fetchChecked, policyFailure, refuseWrongContent, watchPolicy } from "./fetching.js";

/** @typedef {import("./protocol.js").Assets} Assets */
/** @typedef {{manifest: string, file: (name: string) => Promise<Uint8Array>}} IndexFiles the manifest's text, and its files */

/**
 * Milliseconds for `loadPyodide`. It never rejects where a policy blocks it; blocked requests are told by an event, so
 * this is the last resort, and long enough for 5 MB on a slow phone line.
 */
const LOAD_TIMEOUT_MS = 60_000;

/**
 * Milliseconds after which a start that has not ended is looked into: it hangs, too, when its WebAssembly file is
 * missing. Later than a usual start, so that a healthy one is not asked for its files twice.
 */
const PROBE_MS = 4_000;

/** The smallest WebAssembly module: compiling it tells whether the page's policy allows WebAssembly. */
const EMPTY_MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

const INDEX_HINT =
  "Build the index with `py-agent index SITE --out SITE/agent/index`, upload that folder, and check data-index on the script tag.";

const STALE_HINT =
  "The site may have been updated since this page was opened: reload it. If that does not help, upload the whole index folder again.";

/** Milliseconds per phase since boot began; what runs side by side overlaps. */
export class Stopwatch {
  constructor() {
    this.start = performance.now();
    /** @type {Record<string, number>} */
    this.phases = {};
  }

  /**
   * @template T
   * @param {string} phase
   * @param {() => Promise<T> | T} work
   * @returns {Promise<T>}
   */
  async time(phase, work) {
    const begin = performance.now();
    const value = await work();
    this.phases[phase] = Math.round(performance.now() - begin);
    return value;
  }

  total() {
    return { ...this.phases, total: Math.round(performance.now() - this.start) };
  }
}

/** Where Python's packages lie, by runtime. @type {WeakMap<object, string>} */
const folders = new WeakMap();

/**
 * Pyodide with the packages in place that it needs before the first question.
 * @param {Assets} assets
 * @param {Stopwatch} watch
 * @param {(pyodide: any) => void} [onRuntime] called when Python runs and nothing of ours is in it yet
 * @returns {Promise<any>}
 */
export async function bootPython(assets, watch, onRuntime = () => {}) {
  requireWebAssembly();
  const { pyodide: where } = assets;
  const [{ pyodide, sitePackages }, buffers] = await Promise.all([
    watch.time("pyodide", () => loadRuntime(where)),
    watch.time("archives", () => fetchArchives(assets, false)),
  ]);
  onRuntime(pyodide);
  await watch.time("unpack", () => {
    for (const buffer of buffers) pyodide.unpackArchive(buffer, "zip", { extractDir: sitePackages });
  });
  folders.set(pyodide, sitePackages);
  return pyodide;
}

/**
 * Adds the packages that only a question needs; they are fetched while the reader types it.
 * @param {Assets} assets
 * @param {any} pyodide from `bootPython`
 */
export async function addLatePackages(assets, pyodide) {
  const extractDir = folders.get(pyodide);
  for (const buffer of await fetchArchives(assets, true)) {
    pyodide.unpackArchive(buffer, "zip", { extractDir });
    await new Promise((resolve) => setTimeout(resolve)); // one at a time: a reader may be typing on this thread
  }
}

/**
 * Unpacks a wheel into a folder of its own, so that nothing in it can stand in for one of our modules.
 * @param {any} pyodide from `bootPython`
 * @param {ArrayBuffer} wheel
 * @returns {string} the folder, which is not on Python's path yet
 */
export function addWheel(pyodide, wheel) {
  const extractDir = "/site_tools";
  pyodide.unpackArchive(wheel, "zip", { extractDir });
  return extractDir;
}

/**
 * @param {Assets} assets
 * @param {boolean} late
 */
function fetchArchives(assets, late) {
  const wanted = assets.archives.filter((archive) => archive.late === late);
  return Promise.all(wanted.map((archive) => fetchChecked(archive, `the Python package ${archive.name}`)));
}

function requireWebAssembly() {
  if (typeof WebAssembly === "undefined") {
    throw new Failure("no_webassembly", "This browser has no WebAssembly, or its settings switch it off.", "Use a current browser.");
  }
  try {
    new WebAssembly.Module(EMPTY_MODULE);
  } catch {
    throw policyFailure("script-src without 'wasm-unsafe-eval'", "WebAssembly");
  }
}

/**
 * @param {Assets["pyodide"]} where
 * @returns {Promise<{pyodide: any, sitePackages: string}>}
 */
async function loadRuntime(where) {
  const policy = watchPolicy((uri) => uri === "wasm-eval" || uri.startsWith(new URL(where.index).origin));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Failure(
            "load_timeout",
            `Python did not start within ${LOAD_TIMEOUT_MS / 1000} s.`,
            "Either the network is very slow, or the page's Content-Security-Policy lacks 'wasm-unsafe-eval' in script-src " +
              "or the folder of py-agent.js in connect-src.",
          ),
        ),
      LOAD_TIMEOUT_MS,
    );
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let prober;
  const fault = new Promise((_, reject) => {
    prober = setTimeout(() => findFault(where).then((found) => found && reject(found), reject), PROBE_MS);
  });
  try {
    return await Promise.race([startRuntime(where), policy.promise, timeout, fault]);
  } catch (thrown) {
    throw thrown instanceof Failure && thrown.code === "csp" ? thrown : await diagnose(where, thrown);
  } finally {
    clearTimeout(timer);
    clearTimeout(prober);
    policy.stop();
  }
}

/** @param {Assets["pyodide"]} where */
async function startRuntime(where) {
  const { loadPyodide } = await import(where.module);
  let sitePackages = "";
  const pyodide = await loadPyodide({
    fsInit: (/** @type {unknown} */ _, /** @type {{sitePackages: string}} */ info) => (sitePackages = info.sitePackages),
    indexURL: where.index,
    stdLibURL: where.stdlib,
    lockFileURL: where.lock,
    // pydantic would look through all installed packages for plugins, and no plugin may change our checks.
    env: { PYDANTIC_DISABLE_PLUGINS: "__all__" },
    // Python prints only when something is wrong that no error told; the site's own console is not ours to fill.
    stdout: (/** @type {string} */ line) => console.debug(line),
    stderr: (/** @type {string} */ line) => console.warn(line),
  });
  return { pyodide, sitePackages };
}

/**
 * Why the runtime failed: its own message names none of its files.
 * @param {Assets["pyodide"]} where
 * @param {unknown} thrown
 * @returns {Promise<Failure>}
 */
async function diagnose(where, thrown) {
  const fault = await findFault(where);
  if (fault) return fault;
  if (thrown instanceof Failure) return thrown;
  return new Failure(
    "runtime",
    `Python could not start: ${describe(thrown)}.`,
    "Reload the page. If it stays, the files of py-agent's folder may be of two builds: upload the whole folder again.",
  );
}

/**
 * The first of the runtime's files that is missing or is something else; null if all are there.
 * @param {Assets["pyodide"]} where
 * @returns {Promise<Failure | null>}
 */
async function findFault(where) {
  const files = [where.module, `${where.index}pyodide.asm.js`, `${where.index}pyodide.asm.wasm`, where.stdlib, where.lock];
  try {
    for (const url of files) {
      const response = await fetchAsset(url, "a part of the Python runtime");
      const reader = response.body?.getReader();
      const first = await reader?.read();
      await reader?.cancel();
      refuseWrongContent(first?.value ?? new Uint8Array(), url, "a part of the Python runtime");
    }
  } catch (found) {
    if (found instanceof Failure) return found;
    throw found;
  }
  return null;
}

/**
 * The manifest of an index, and its other files on demand. Its directory is on its way before Python asks for it.
 * @param {string} url the manifest's
 * @returns {Promise<IndexFiles>}
 */
export async function fetchIndex(url) {
  const missing = { code: "missing_index", hint: INDEX_HINT };
  const text = new TextDecoder().decode(await fetchBytes(url, "the search index's manifest", missing, "no-cache"));
  let manifest;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw new Failure("wrong_content", `${url} should be the search index's manifest (JSON), but it is not JSON.`, INDEX_HINT);
  }
  /** @type {(name: string, missing: {code: string, hint: string}) => Promise<Uint8Array>} */
  const get = (name, missing) => fetchBytes(new URL(name, url).href, "a part of the search index", missing);
  /** @type {Map<string, Promise<Uint8Array>>} */
  const early = new Map();
  if (typeof manifest?.directory === "string") {
    const coming = get(manifest.directory, missing);
    coming.catch(() => undefined); // told when Python asks
    early.set(manifest.directory, coming);
  }
  return {
    manifest: text,
    file: (name) => {
      const coming = early.get(name) ?? get(name, { code: "missing_index", hint: STALE_HINT });
      early.delete(name);
      return coming;
    },
  };
}
