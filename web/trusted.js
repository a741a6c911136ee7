// Trusted Types: pages that require them let a string become a worker's address only through a named policy.

/** Name of our policy, for the `trusted-types` directive of such a page. */
export const POLICY_NAME = "py-agent";

/**
 * @typedef {{createScriptURL: (url: string) => string, createHTML: (html: string) => string}} Policy
 */

/** @type {Policy | null | undefined} */
let policy;

/**
 * Our policy, made once; null where the browser knows none. It passes on only what our own modules hand it: addresses
 * of the built files, and Markdown on its way into the sanitizer.
 * @returns {Policy | null}
 */
export function trustedPolicy() {
  if (policy !== undefined) return policy;
  const factory = /** @type {any} */ (globalThis).trustedTypes;
  try {
    policy = factory ? factory.createPolicy(POLICY_NAME, { createScriptURL: pass, createHTML: pass }) : null;
  } catch {
    // The page's `trusted-types` directive does not list us. Whatever then fails says so: line.js looks for it.
    policy = null;
  }
  return policy ?? null;
}

/** @param {string} text */
function pass(text) {
  return text;
}

/**
 * @param {string} url  of one of the built files, or a blob of ours
 * @returns {string}
 */
export function trustedScript(url) {
  return trustedPolicy()?.createScriptURL(url) ?? url;
}
