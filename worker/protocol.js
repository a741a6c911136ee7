// Every message that crosses a port, on one screen a port. The Python twin is py_agent/browser/protocol.py; a test
// compares the two. Requests carry an `id`; each is answered exactly once, by `result` or `error` with the same id
// (a stream: any number of `chunk`, then `end` or `error`). Messages are plain JSON with their name in `type`; only
// BODIES travel as bytes: a message with one is posted as `[message, Uint8Array]`, the buffer transferred.

/** Version of all ports together: a page and a worker from different builds refuse each other at `start`. */
export const PROTOCOL_VERSION = 1;

/** page -> session */
export const SESSION_REQUESTS = Object.freeze({
  start: ["version", "assets", "config"], //   first message, once; answered by `state` messages, not by `result`
  ask: ["id", "text", "thread", "page"], //     thread: id or null (the latest); page: address the reader is on; `event`s follow,
  //                                            then result: {answer, sources, related, status}; each source has an absolute `link`
  stop: ["id", "ask"], //                       ask: the id of the ask to stop
  decide: ["id", "ask", "gate", "value"], //    answers a `gate_open` event: true or false to approve, text to answer, null to skip it
  add: ["id", "ask", "text"], //                more words for an ask that runs; result: id of the stored message; an `addition` event comes, too
  search: ["id", "query", "top"], //            result: {query, hits: [{passage, score}], missing, repaired}
  thread: ["id"], //                            result: {thread, messages, kept, notice}: the latest thread, empty if none; each message has
  //                                            feedback: {verdict, text} or null; notice: what the reader must know about what is stored, or empty
  new_thread: ["id"], //                        result as `thread`
  threads: ["id", "top", "cursor"], //          result: {threads: [{id, title, created_at, updated_at, messages}], next}; cursor: `next` of the page before, or null
  open_thread: ["id", "thread"], //             result as `thread`
  rename_thread: ["id", "thread", "title"], //  result: {id, title, ...} as in `threads`
  delete_thread: ["id", "thread"], //           thread: id, or null for everything that is stored; result: whether there was one; refused (busy) while it answers
  search_threads: ["id", "query", "top"], //    result: [{thread, title, message, role, snippet: [[text, found]], created_at}]
  export_thread: ["id", "thread"], //           result: {name, text}: a JSON file
  import_thread: ["id", "text"], //             text: of such a file; result as `thread`
  feedback: ["id", "message", "verdict", "text"], // verdict: up, down, or null to take it back; result: true
});

/** session -> page */
export const SESSION_REPLIES = Object.freeze({
  state: ["state", "message", "code", "hint", "engine", "timings"], // state: one of STATES; code, hint: for failed / waiting; when ready: EngineInfo, and ms per boot phase
  event: ["id", "event"], //                    id: of the ask; event: one of py_agent/runner/events.py
  result: ["id", "value"],
  error: ["id", "error"], //                    error: {code, message, hint}
});

/** loading -> ready | failed; waiting: another tab leads, search is relayed to it; it goes on to loading when that tab closes */
export const STATES = Object.freeze(["loading", "waiting", "ready", "failed"]);

/** harness -> engine worker */
export const ENGINE_REQUESTS = Object.freeze({
  load: ["id", "wasm", "model", "backend", "window"], // wasm: folder URL; model: URL; backend: CPU | GPU | GPU_ARTISAN; window: tokens
  generate: ["id", "prompt", "max_output_tokens", "credit"], // prompt: py_agent/model/prompt.py as JSON; credit: chunks that may be under way
  credit: ["ask", "chunks"], //                 no answer: the harness has taken `chunks` more of stream `ask`
  cancel: ["id", "ask"],
  count_tokens: ["id", "text"], //              result: number or null
  unload: ["id"],
});

/** engine worker -> harness */
export const ENGINE_REPLIES = Object.freeze({
  up: ["lock"], //                              the worker runs and holds the Web Lock named `lock`: being granted it means death
  progress: ["id", "loaded", "total"],
  chunk: ["id", "text", "thinking", "call"], // one of the three is set; call: {name, arguments}, from an engine that parses calls by itself
  end: ["id", "chunks", "reason", "prompt_tokens", "output_tokens"], // chunks: how many there were: none may be lost
  device_lost: ["reason"], //                   every call and stream is then rejected with code `lost`, once
  result: ["id", "value"],
  error: ["id", "error"],
});

/** harness -> storage worker; `spool_write` and `spool_append` carry a body, `spool_read` answers with one */
export const STORAGE_REQUESTS = Object.freeze({
  open: ["id", "wasm", "directory"], //         wasm: URL of sqlite3.wasm; result: {persistent, notice}
  execute: ["id", "sql", "params"], //          result: rows as objects
  transaction: ["id", "statements"], //         statements: [[sql, params]]: all or none
  forget_set_aside: ["id", "containing"], //    deletes copies of damaged databases; containing: text, or null for all; result: how many
  spool_write: ["id", "key"],
  spool_append: ["id", "key"],
  spool_read: ["id", "key", "start", "end"],
  spool_size: ["id", "key"],
  spool_delete: ["id", "prefix"],
  close: ["id"],
});

/** storage worker -> harness */
export const STORAGE_REPLIES = Object.freeze({
  up: ["lock"],
  result: ["id", "value"],
  error: ["id", "error"],
});

/**
 * Where the built files are, as absolute URLs: the loader knows them (the build writes them in) and hands them on.
 * @typedef {object} Assets
 * @property {string} widget  ES module of the widget
 * @property {string} session ES module: the session worker's entry
 * @property {string} host    ES module: the harness host, for `data-harness="main"`
 * @property {string} engine  classic script: the engine worker
 * @property {string} storage ES module: the storage worker
 * @property {string} litertWasm folder, with a trailing slash
 * @property {string} sqliteWasm sqlite3.wasm
 * @property {{module: string, index: string, stdlib: string, lock: string}} pyodide `index`: folder, with a trailing slash
 * @property {Archive[]} archives  stored zips to unpack into site-packages, in order
 */

/** @typedef {{name: string, url: string, sha256: string, bytes: number, late: boolean}} Archive `late`: not needed before the first question */

/**
 * What the site's owner chose, checked by web/config.js, addresses absolute.
 * @typedef {object} SessionConfig
 * @property {string} index   the manifest's URL
 * @property {"extractive" | "litert" | "openai"} engine
 * @property {string | null} modelUrl
 * @property {string | null} baseUrl
 * @property {string} modelName
 * @property {string | null} tools   address of a wheel with `#sha256=`
 * @property {"CPU" | "GPU" | "GPU_ARTISAN"} backend
 * @property {number} window  context window in tokens
 * @property {"worker" | "main"} harness
 */

/** @typedef {{code: string, message: string, hint: string}} WireError */
