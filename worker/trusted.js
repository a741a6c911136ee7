// Trusted Types: where a page requires them, a string becomes a worker's address only through a policy of that page.
// The widget has one of its own; a second one of the same name would be refused, so the host's has its own name.

/** Name of the host's policy, for the `trusted-types` directive of such a page. */
export const HOST_POLICY = "py-agent-host";

/** @type {{createScriptURL: (url: string) => string} | null | undefined} */
let policy;

/**
 * The address as the browser wants it; the plain string where it wants no more, or where the page does not list us (then
 * the browser's own error names the directive).
 * @param {string} url of one of the built files, or a blob of ours
 * @returns {string}
 */
export function trustedScript(url) {
  if (policy === undefined) {
    const factory = /** @type {any} */ (globalThis).trustedTypes;
    try {
      policy = factory ? factory.createPolicy(HOST_POLICY, { createScriptURL: (/** @type {string} */ text) => text }) : null;
    } catch {
      policy = null;
    }
  }
  return policy ? policy.createScriptURL(url) : url;
}
