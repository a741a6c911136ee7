// The death signal of a worker. A worker that was terminated, closed itself or crashed sends no event, so it holds a
// Web Lock for as long as it lives and tells the lock's name: whoever is granted that lock knows that it is dead.

/**
 * Takes the life lock and announces it; without Web Locks (no secure context) announces null.
 * @param {(message: {type: "up", lock: string | null}) => void} post
 */
export function holdLife(post) {
  if (!navigator.locks) {
    post({ type: "up", lock: null });
    return;
  }
  const lock = `py-agent-life-${crypto.randomUUID()}`;
  void navigator.locks.request(lock, () => {
    post({ type: "up", lock });
    return new Promise(() => {}); // held until the worker is gone
  });
}

/**
 * Calls `onDeath` once when the holder of `lock` is gone.
 * @param {string} lock
 * @param {() => void} onDeath
 * @returns {() => void} stops watching: call it before an intended termination
 */
export function watchLife(lock, onDeath) {
  if (!navigator.locks) return () => {};
  const abort = new AbortController();
  navigator.locks.request(lock, { signal: abort.signal }, () => onDeath()).catch((thrown) => {
    if (!abort.signal.aborted) throw thrown;
  });
  return () => abort.abort();
}
