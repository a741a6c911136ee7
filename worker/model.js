// The model file on its way into the engine: bytes are counted (the engine reports no progress), and what is no model is
// named before the engine stumbles over it.

import { Failure } from "./failure.js";
import { fetchAsset, refuseWrongContent } from "./fetching.js";

/** First bytes of every `.litertlm` file. */
const MAGIC = "LITERTLM";

/** Milliseconds between two reports of progress: a bar needs no more. */
const REPORT_MS = 100;

const HINT = "Check data-model-url: it must lead to a .litertlm file, on a host that sends CORS headers for this site.";

/**
 * @param {string} url
 * @param {(loaded: number, total: number | null) => void} onProgress
 * @returns {Promise<ReadableStream<Uint8Array>>}
 */
export async function openModel(url, onProgress) {
  const response = await fetchAsset(url, "the model", { code: "load_failed", hint: HINT });
  if (!response.body) throw new Failure("load_failed", `${url} should be a model, but an empty answer came.`, HINT);
  const length = Number(response.headers.get("content-length"));
  const total = length > 0 && !response.headers.get("content-encoding") ? length : null;
  const reader = response.body.getReader();
  const head = await readHead(reader);
  refuseOther(head, url);
  let loaded = 0;
  let reported = 0;
  /** @param {Uint8Array} bytes */
  const count = (bytes) => {
    loaded += bytes.length;
    if (performance.now() - reported < REPORT_MS && loaded !== total) return;
    reported = performance.now();
    onProgress(loaded, total);
  };
  return new ReadableStream({
    start(controller) {
      controller.enqueue(head);
      count(head);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) {
        count(value);
        controller.enqueue(value);
        return;
      }
      if (total !== null && loaded !== total) {
        controller.error(new Failure("load_failed", `${url}: ${loaded} of ${total} bytes came, then the connection ended.`, "Try again."));
        return;
      }
      onProgress(loaded, loaded);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * At least the magic's bytes, unless the file is shorter.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 */
async function readHead(reader) {
  let head = new Uint8Array();
  while (head.length < MAGIC.length) {
    const { done, value } = await reader.read();
    if (done) break;
    const longer = new Uint8Array(head.length + value.length);
    longer.set(head);
    longer.set(value, head.length);
    head = longer;
  }
  return head;
}

/**
 * @param {Uint8Array} head
 * @param {string} url
 */
function refuseOther(head, url) {
  refuseWrongContent(head, url, "a model");
  const start = new TextDecoder("latin1").decode(head.subarray(0, MAGIC.length));
  if (start === MAGIC) return;
  const came = /^\s*[[{]/.test(start) ? "JSON (an access message?)" : `a file that starts with ${JSON.stringify(start)}`;
  throw new Failure("wrong_content", `${url} should be a .litertlm model, but ${came} came instead.`, HINT);
}
