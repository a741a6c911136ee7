// The life of the page: frozen pages and pages in the back/forward cache keep locks and files but run no code.

/**
 * Ends the session when the page goes to sleep or away, and starts it again when it is back.
 * @param {{suspend: () => void, resume: () => void}} session
 * @returns {() => void} ends the watching
 */
export function watchPageLife(session) {
  const sleep = () => session.suspend();
  const wake = () => session.resume();
  const show = (/** @type {PageTransitionEvent} */ event) => event.persisted && session.resume();
  window.addEventListener("pagehide", sleep);
  window.addEventListener("pageshow", show);
  document.addEventListener("freeze", sleep);
  document.addEventListener("resume", wake);
  return () => {
    window.removeEventListener("pagehide", sleep);
    window.removeEventListener("pageshow", show);
    document.removeEventListener("freeze", sleep);
    document.removeEventListener("resume", wake);
  };
}
