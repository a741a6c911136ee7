// Every word the widget says of itself.

export const TEXT = Object.freeze({
  open: (/** @type {string} */ title) => `${title}: open the chat`,
  close: "Close the chat",
  fresh: "New conversation",
  messages: "Conversation",
  question: "Your question",
  send: "Send the question",
  stop: "Stop the answer",
  copy: "Copy the answer",
  copied: "Copied.",
  copyFailed: "The browser did not allow copying.",
  newest: "Go to the newest message",
  again: "Ask again",
  retry: "Try again",
  you: "You",
  answerBy: "Answer",
  passagesBy: "Search results",
  sources: "Sources",
  related: "Passages that may help",
  noModel: "Search answers, no model: what you read is quoted from these docs.",
  model: (/** @type {string} */ name) => `Answers are written by ${name} in your browser and can be wrong. Check the sources.`,
  remote: (/** @type {string} */ host, /** @type {string} */ name) =>
    `Your questions leave this device: they are sent to ${host}, where ${name || "a model"} answers them. Answers can be wrong. Check the sources.`,
  loading: "Getting ready…",
  ready: "Ready for questions.",
  waiting: "This chat is open in another tab. Search works here; answers do when that tab is closed.",
  sent: "Question sent.",
  stopped: "Stopped.",
  interrupted: "This question was interrupted before its answer was complete.",
  uncited: "No source could be checked for this answer.",
  abstained: "Not found in these docs",
  failed: "This did not work.",
  nothingFound: "The search found nothing for these words.",
  notKept: "This conversation is not kept: it is gone when you leave the page.",
  widgetFailed: "The chat could not be loaded.",
  widgetHint: "Check the connection and try again.",
  answerReady: (/** @type {string} */ text, /** @type {number} */ sources) =>
    `Answer ready. ${text}${sources ? ` ${sources} ${sources === 1 ? "source" : "sources"}.` : ""}`,
});

/** What the status line says in each phase of a turn: the phases of `Status` in py_agent/runner/events.py. */
export const PHASES = Object.freeze(
  /** @type {Record<string, string>} */ ({
    planning: "Planning…",
    searching: "Searching…",
    reading: "Reading…",
    answering: "Writing the answer…",
    checking: "Checking the sources…",
  }),
);
