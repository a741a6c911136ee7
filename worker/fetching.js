// Fetching with failures that name the address and what came instead. Static hosts answer a missing file with 404, with
// a page of HTML and status 200, or with the pointer file of a large-file store: a parser's own message helps nobody.

import { Failure, describe } from "./failure.js";

/** Milliseconds in which the browser reports a blocked request after `fetch` has failed: the event is a later task. */
const VIOLATION_WAIT_MS = 50;

/** Bytes that are enough to tell an HTML page or a pointer file from what was asked for. */
const SNIFF_BYTES = 256;

/** @type {{directive: string, uri: string}[]} */
const violations = [];
/** @type {Set<(failure: Failure) => void>} */
const watchers = new Set();

globalThis.addEventListener?.("securitypolicyviolation", (event) => {
  const { effectiveDirective, blockedURI, disposition } = /** @type {SecurityPolicyViolationEvent} */ (event);
  if (disposition === "report") return;
  violations.push({ directive: effectiveDirective, uri: blockedURI });
  for (const watcher of watchers) watcher(policyFailure(effectiveDirective, blockedURI));
});

/**
 * Rejects as soon as the page's content security policy blocks something that `isOurs`; never resolves.
 * @param {(uri: string) => boolean} isOurs
 * @returns {{promise: Promise<never>, stop: () => void}}
 */
export function watchPolicy(isOurs) {
  /** @type {(failure: Failure) => void} */
  let watcher = () => {};
  const promise = /** @type {Promise<never>} */ (new Promise((_, reject) => {
    watcher = (failure) => {
      const last = violations.at(-1);
      if (last && isOurs(last.uri)) reject(failure);
    };
    watchers.add(watcher);
  }));
  promise.catch(() => {}); // the caller races it; on its own it must not be reported as unhandled
  return { promise, stop: () => watchers.delete(watcher) };
}

/**
 * @param {string} directive the directive that blocked, or what is missing in it
 * @param {string} uri
 * @returns {Failure}
 */
export function policyFailure(directive, uri) {
  return new Failure(
    "csp",
    `The page's content security policy (${directive}) blocks ${uri || "WebAssembly"}, so the assistant cannot start.`,
    "Allow it in the Content-Security-Policy of the site: script-src 'wasm-unsafe-eval' and the folder of py-agent.js, " +
      "connect-src the same folder, worker-src the same folder (or blob: if it lies on another origin).",
  );
}

/**
 * Runs `attempt`, and once more past the browser's cache if it fails: a cache that has kept a 404, or a file of the
 * last build, would keep the assistant broken after its host was repaired.
 * @template T
 * @param {(cache: RequestCache) => Promise<T>} attempt
 * @param {RequestCache} [first]
 * @returns {Promise<T>}
 */
async function pastTheCache(attempt, first = "default") {
  try {
    return await attempt(first);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "csp") throw thrown;
    return attempt("reload");
  }
}

/**
 * @param {string} url
 * @param {string} what what the file is, for the message: "the search index's manifest"
 * @param {{code?: string, hint?: string}} [missing] code and hint when it is not there
 * @returns {Promise<Response>}
 */
export function fetchAsset(url, what, missing) {
  return pastTheCache((cache) => request(url, what, missing, cache));
}

/**
 * @param {string} url
 * @param {string} what
 * @param {{code?: string, hint?: string}} missing
 * @param {RequestCache} cache
 * @returns {Promise<Response>}
 */
async function request(url, what, missing = {}, cache) {
  const code = missing.code ?? "missing_asset";
  const hint = missing.hint ?? "Upload the whole folder of py-agent.js again, and look at the address in the browser.";
  let response;
  try {
    response = await fetch(url, { cache });
  } catch (thrown) {
    await new Promise((resolve) => setTimeout(resolve, VIOLATION_WAIT_MS));
    const blocked = violations.find(({ uri }) => uri && (url === uri || url.startsWith(uri)));
    if (blocked) throw policyFailure(blocked.directive, url);
    throw new Failure(code, `Cannot reach ${what} at ${url} (${describe(thrown)}).`, `Is the network up? ${hint}`);
  }
  if (!response.ok) throw new Failure(code, `Cannot load ${what}: ${url} answers with status ${response.status}.`, hint);
  return response;
}

/**
 * Fails if the first bytes are a web page or a pointer file instead of `what`.
 * @param {Uint8Array} bytes
 * @param {string} url
 * @param {string} what
 */
export function refuseWrongContent(bytes, url, what) {
  const came = sniff(bytes);
  if (!came) return;
  throw new Failure(
    "wrong_content",
    `${url} should be ${what}, but ${came} came instead.`,
    "The file is probably not uploaded and the host answers with another page: check the address in the browser.",
  );
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} what they are, if that is something which no asset of ours is; else empty
 */
function sniff(bytes) {
  if (bytes.length === 0) return "an empty file";
  const head = new TextDecoder().decode(bytes.subarray(0, SNIFF_BYTES)).replace(/^\uFEFF/, "").trimStart();
  if (/^<(!doctype|html|head|body|!--|\?xml)/i.test(head)) return "a web page (HTML)";
  if (head.startsWith("version https://git-lfs")) return "a Git LFS pointer (the large file itself was never uploaded)";
  return "";
}

/**
 * @param {string} url
 * @param {string} what
 * @param {{code?: string, hint?: string}} [missing]
 * @param {RequestCache} [first] how the browser's cache is used at first; `no-cache` for a file whose name says no version
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export function fetchBytes(url, what, missing, first) {
  return pastTheCache((cache) => requestBytes(url, what, missing, cache), first);
}

/**
 * @param {string} url
 * @param {string} what
 * @param {{code?: string, hint?: string} | undefined} missing
 * @param {RequestCache} cache
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function requestBytes(url, what, missing, cache) {
  const bytes = new Uint8Array(await (await request(url, what, missing, cache)).arrayBuffer());
  refuseWrongContent(bytes, url, what);
  return bytes;
}

/**
 * Fetches and checks the content against its hash. Without a secure context there is no hash function: then the length
 * must do.
 * @param {{url: string, sha256: string, bytes: number}} file
 * @param {string} what
 * @param {{code?: string, hint?: string}} [missing]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export function fetchChecked(file, what, missing) {
  return pastTheCache((cache) => requestChecked(file, what, missing, cache));
}

/**
 * @param {{url: string, sha256: string, bytes: number}} file
 * @param {string} what
 * @param {{code?: string, hint?: string} | undefined} missing
 * @param {RequestCache} cache
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function requestChecked(file, what, missing, cache) {
  const bytes = await requestBytes(file.url, what, missing, cache);
  const intact = globalThis.crypto?.subtle
    ? hex(await crypto.subtle.digest("SHA-256", bytes)) === file.sha256
    : bytes.length === file.bytes;
  if (intact) return bytes;
  throw new Failure(
    "damaged_asset",
    `${file.url} (${what}) is not the file that was built: ${bytes.length} bytes came, ${file.bytes} were expected, or the content differs.`,
    "Empty the caches between the host and the browser, and upload the whole folder again: files of two builds do not mix.",
  );
}

/** @param {ArrayBuffer} digest */
function hex(digest) {
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
