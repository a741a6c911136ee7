// Entry of the engine worker: the real LiteRT-LM behind the engine port. A CLASSIC script (the library's own glue calls
// importScripts). It is disposable: whoever started it may terminate it at any time and spawn it again.

import { Backend, Engine, SamplerType, getGlobalLiteRtLm, hasGlobalLiteRtLm, loadLiteRtLm } from "@litert-lm/core";
import { explain } from "./enginefailure.js";
import { keep, recent, tameConsole } from "./enginelog.js";
import { Failure, describe, toWire } from "./failure.js";
import { holdLife } from "./lifeline.js";
import { openModel } from "./model.js";
import { toConversation, toPieces } from "./prompts.js";

/** @typedef {import("./prompts.js").Prompt} Prompt */
/** @typedef {{ask: string, credit: number, cancelled: boolean, cancel: () => void, wake: () => void, settle: () => void, done: Promise<void>}} Stream */

/**
 * The GPU backend ends in "null function" unless ALL advanced settings are given, this one false: the library's defaults
 * convert weights with code that its web build lacks.
 */
const GPU_SETTINGS = Object.freeze({
  prefill_batch_sizes: [],
  num_output_candidates: 1,
  configure_magic_numbers: true,
  verify_magic_numbers: false,
  clear_kv_cache_before_prefill: true,
  num_logits_to_print_after_decode: 0,
  gpu_madvise_original_shared_tensors: true,
  is_benchmark: false,
  preferred_device_substr: "",
  num_threads_to_upload: -1,
  num_threads_to_compile: -1,
  convert_weights_on_gpu: false,
  optimize_shader_compilation: true,
  share_constant_tensors: true,
});

/** Arg-max: the only sampling that works on all three backends, and a turn can be repeated. */
const SAMPLER = Object.freeze({ type: SamplerType.TOP_P, k: 1, p: 0.95, temperature: 1, seed: 1 });

/** @type {(message: any) => void} */
const post = (message) => /** @type {any} */ (globalThis).postMessage(message);

/** @type {Engine | null} */
let engine = null;
let window = 0;
let lost = false;
/** Streams that were asked for and have not ended, the waiting ones too. @type {Map<string, Stream>} */
const streams = new Map();
/** @type {Promise<unknown>} */
let last = Promise.resolve();

globalThis.onmessage = ({ data: message }) => {
  if (message.type === "credit") {
    const stream = streams.get(message.ask);
    if (stream) {
      stream.credit += message.chunks;
      stream.wake();
    }
  } else if (message.type === "cancel") {
    void cancel(message);
  } else {
    if (message.type === "generate") streams.set(message.id, newStream(message));
    last = last.then(() => answer(message)); // one executor: requests run in the order in which they came
  }
};

/** @param {any} message */
async function answer(message) {
  try {
    if (lost) return; // `device_lost` has ended every call already; nothing more is said
    if (message.type === "generate") await generate(message);
    else post({ type: "result", id: message.id, value: (await handle(message)) ?? null });
  } catch (thrown) {
    if (!lost) post({ type: "error", id: message.id, error: toWire(thrown, "refused") });
  }
}

/** @param {any} message */
async function handle(message) {
  if (message.type === "load") return load(message);
  if (message.type === "unload") return unload();
  if (message.type === "count_tokens") return null; // the web build exposes no tokenizer
  throw new Failure("bad_call", `The engine worker knows no request ${JSON.stringify(message.type)}.`);
}

/** @param {{id: string, wasm: string, model: string, backend: "CPU" | "GPU" | "GPU_ARTISAN", window: number}} request */
async function load({ id, wasm, model, backend, window: tokens }) {
  await unload();
  if (backend !== "CPU") await requireAdapter();
  const stream = await openModel(model, (loaded, total) => post({ type: "progress", id, loaded, total }));
  try {
    await loadLibrary(wasm);
    const settings = { maxNumTokens: tokens };
    const forGpu = { ...settings, samplerBackend: Backend.CPU, advancedSettings: { ...GPU_SETTINGS } };
    engine = await Engine.create({
      model: stream,
      backend: Backend[backend],
      benchmarkEnabled: true, // the only source of token counts
      mainExecutorSettings: backend === "GPU" ? forGpu : settings,
    });
  } catch (thrown) {
    const failure = explain(thrown, "load_failed", `The model ${model} does not load on ${backend}`, "Is it whole, and made for this backend?");
    console.debug(`LiteRT-LM said last:\n${recent()}`);
    throw failure;
  }
  window = tokens;
  watchDevice();
}

/** Before any byte of the model is asked for. */
async function requireAdapter() {
  const hint = "Use a browser with WebGPU and hardware acceleration switched on, or data-backend=\"CPU\".";
  if (!navigator.gpu) throw new Failure("no_webgpu", "This browser has no WebGPU, which the model needs.", hint);
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) throw new Failure("no_adapter", "This browser gives the page no graphics processor, which the model needs.", hint);
}

/** @param {string} wasm folder, with a trailing slash */
async function loadLibrary(wasm) {
  if (hasGlobalLiteRtLm()) return;
  // Without `locateFile` the glue looks for its .wasm beside the worker's own address.
  Object.assign(globalThis, { Module: { locateFile: (/** @type {string} */ file) => wasm + file, print: keep, printErr: keep } });
  try {
    await loadLiteRtLm(wasm);
  } catch (thrown) {
    const hint = "Upload the whole folder of py-agent.js again.";
    throw new Failure("load_failed", `LiteRT-LM does not load from ${wasm}: ${describe(thrown)}.`, hint);
  }
}

function watchDevice() {
  const device = /** @type {any} */ (getGlobalLiteRtLm()).liteRtLmWasm.preinitializedWebGPUDevice;
  device?.lost.then((/** @type {{reason: string, message: string}} */ info) => {
    if (lost) return;
    lost = true;
    post({ type: "device_lost", reason: `The browser lost the graphics processor (${info.reason}: ${info.message})` });
  });
}

async function unload() {
  const old = engine;
  engine = null;
  await old?.delete();
}

/**
 * @param {{id: string, credit: number}} request
 * @returns {Stream}
 */
function newStream({ id, credit }) {
  /** @type {() => void} */
  let settle = () => {};
  const done = new Promise((resolve) => (settle = () => resolve(undefined)));
  return { ask: id, credit, cancelled: false, cancel: () => {}, wake: () => {}, settle, done };
}

/** @param {{id: string, prompt: Prompt, max_output_tokens: number}} request */
async function generate({ id, prompt, max_output_tokens: cap }) {
  const stream = /** @type {Stream} */ (streams.get(id));
  /** @type {import("@litert-lm/core").Conversation | null} */
  let conversation = null;
  try {
    if (!engine) throw new Failure("not_loaded", "The engine worker holds no model.");
    const { preface, last: message } = toConversation(prompt);
    conversation = await engine.createConversation({
      preface,
      sessionConfig: { maxOutputTokens: cap, samplerParams: { ...SAMPLER } },
    });
    const chunks = await run(conversation, message, stream);
    post({ type: "end", id, chunks, ...(await tally(conversation, stream.cancelled, cap)) });
  } catch (thrown) {
    throw explain(thrown, "refused", "The model failed while it answered", "Ask again.");
  } finally {
    streams.delete(id);
    stream.settle();
    // A conversation is never used again, cancelled or not. When the device is gone its deletion never returns.
    if (conversation && !lost) await conversation.delete();
  }
}

/**
 * @param {import("@litert-lm/core").Conversation} conversation
 * @param {import("@litert-lm/core").Message} message
 * @param {Stream} stream
 * @returns {Promise<number>} chunks posted
 */
async function run(conversation, message, stream) {
  let chunks = 0;
  if (stream.cancelled) return chunks; // stopped before the first token
  stream.cancel = () => conversation.cancel();
  const reader = conversation.sendMessageStreaming(message).getReader();
  let came = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      came = true;
      for (const piece of toPieces(value)) {
        while (stream.credit < 1 && !stream.cancelled) await new Promise((resolve) => (stream.wake = () => resolve(null)));
        if (stream.cancelled) continue; // read on to the end: only then is the executor free
        stream.credit -= 1;
        chunks += 1;
        post({ type: "chunk", id: stream.ask, ...piece });
      }
    }
  } catch (thrown) {
    if (!stream.cancelled) throw thrown; // else it is "Task cancelled": what was asked for
  }
  if (came || stream.cancelled) return chunks;
  // A window that is full, or a device that was lost, ends the stream with nothing and without an error.
  throw new Failure("empty", "The model ended without a word: its window is probably full.", "Start a new conversation.");
}

/**
 * @param {import("@litert-lm/core").Conversation} conversation
 * @param {boolean} cancelled
 * @param {number} cap
 */
async function tally(conversation, cancelled, cap) {
  if (cancelled) return { reason: "cancelled", prompt_tokens: null, output_tokens: null };
  const { lastPrefillTokenCount: input, lastDecodeTokenCount: output } = await conversation.getBenchmarkInfo();
  const cut = output >= cap || input + output >= window;
  return { reason: cut ? "length" : "stop", prompt_tokens: input, output_tokens: output };
}

/** @param {{id: string, ask: string}} request answered when the stream has ended, or at once if it does not run */
async function cancel({ id, ask }) {
  const stream = streams.get(ask);
  if (stream) {
    stream.cancelled = true;
    stream.cancel();
    stream.wake();
    await stream.done;
  }
  if (!lost) post({ type: "result", id, value: null });
}

tameConsole();
holdLife(post);
