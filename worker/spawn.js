// Starting a worker from any origin. A worker's script must be of the page's own origin; assets on another host go
// through a blob. A blob with a STATIC import of another origin dies without a word under `worker-src blob:`, and a
// message that is posted before the dynamic import has finished would be lost: so the blob queues.

import { policyFailure } from "./fetching.js";
import { HOST_POLICY, trustedScript } from "./trusted.js";

/**
 * @param {string} url absolute
 * @param {"module" | "classic"} type
 * @param {string} name for the developer tools
 * @returns {Worker}
 * @throws {import("./failure.js").Failure} `csp`: the page's Trusted Types do not list us
 */
export function spawn(url, type, name) {
  if (new URL(url).origin === globalThis.origin) return construct(url, { type, name });
  const quoted = JSON.stringify(url);
  const source =
    type === "classic"
      ? `importScripts(${quoted});`
      : `const q=[];self.onmessage=(e)=>q.push(e);import(${quoted}).then(()=>{for(const e of q)self.onmessage(e)},` +
        `(e)=>setTimeout(()=>{throw e}));`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = construct(blob, { type, name });
  // Chromium reads the blob when the worker starts; a minute is far beyond that and keeps the page's memory clean.
  setTimeout(() => URL.revokeObjectURL(blob), 60_000);
  return worker;
}

/**
 * @param {string} url
 * @param {WorkerOptions} options
 * @returns {Worker}
 */
function construct(url, options) {
  try {
    return new Worker(trustedScript(url), options);
  } catch (thrown) {
    if (thrown instanceof TypeError && "trustedTypes" in globalThis) {
      throw policyFailure(`trusted-types without ${HOST_POLICY}`, url);
    }
    throw thrown;
  }
}
