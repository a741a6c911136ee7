// One tab leads: it owns the database and the model. Who leads is settled by a Web Lock, which a closed, killed or
// reloaded tab gives back by itself. The lock is scoped by the site, so that two docs sites on one origin do not meet.

/**
 * Milliseconds that a tab waits for the lock before it says that another tab leads: after a reload the old tab's worker
 * gives it back within some ten milliseconds, and a flash of "open in another tab" would frighten for nothing.
 */
const GRACE_MS = 400;

/**
 * What names a site: its index. Query and fragment do not count.
 * @param {string} index the manifest's URL
 * @returns {string}
 */
export function scopeOf(index) {
  const { host, pathname } = new URL(index);
  return `${host}${pathname}`;
}

/**
 * A folder name for a scope that any file system takes: readable, cut, and made unique by a hash of the whole.
 * @param {string} scope
 * @returns {string}
 */
export function directoryOf(scope) {
  let hash = 0xcbf29ce484222325n; // FNV-1a, 64 bits: unlike crypto.subtle it is there without a secure context
  for (const byte of new TextEncoder().encode(scope)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const readable = scope.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  return `py-agent-${readable}-${hash.toString(16).padStart(16, "0")}`;
}

/**
 * Asks for the lead.
 * @param {string} scope
 * @param {{onLead: () => void, onWait: () => void}} events `onWait` comes at most once, before `onLead`
 * @returns {() => void} gives the lead, or the place in the queue, back
 */
export function askForLead(scope, { onLead, onWait }) {
  if (!navigator.locks) {
    onLead(); // no secure context: there is no OPFS either, so there is nothing that two tabs could spoil
    return () => {};
  }
  const abort = new AbortController();
  const grace = setTimeout(onWait, GRACE_MS);
  /** @type {() => void} */
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  navigator.locks
    .request(`py-agent-lead-${scope}`, { signal: abort.signal }, () => {
      clearTimeout(grace);
      onLead();
      return held;
    })
    .catch((thrown) => {
      if (!abort.signal.aborted) throw thrown;
    });
  return () => {
    clearTimeout(grace);
    abort.abort();
    release();
  };
}
