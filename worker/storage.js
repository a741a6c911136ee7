// Entry of the storage worker: one database and one spool. Requests run one after the other, in the order in which they
// came: a read sees the write before it.

import { NOT_KEPT, openDatabase, openFolder } from "./database.js";
import { Failure, toWire } from "./failure.js";
import { holdLife } from "./lifeline.js";
import { MemorySpool, OpfsSpool } from "./spool.js";

/** @type {(message: any, transfer?: Transferable[]) => void} */
const post = (message, transfer = []) => /** @type {any} */ (globalThis).postMessage(message, transfer);

/** @type {{database: import("./database.js").Database, spool: import("./spool.js").Spool} | null} */
let opened = null;

/** @type {Promise<void>} */
let last = Promise.resolve();

globalThis.onmessage = ({ data }) => {
  const [message, body] = Array.isArray(data) ? data : [data, undefined];
  last = last.then(() => answer(message, body));
};

/**
 * @param {any} message
 * @param {Uint8Array} [body]
 */
async function answer(message, body) {
  const { id } = message;
  try {
    const value = await handle(message, body);
    if (value instanceof Uint8Array) post([{ type: "result", id, value: null }, value], [value.buffer]);
    else post({ type: "result", id, value: value ?? null });
  } catch (thrown) {
    post({ type: "error", id, error: toWire(thrown, "unavailable") });
  }
}

/**
 * @param {any} message
 * @param {Uint8Array} [body]
 * @returns {Promise<unknown>}
 */
async function handle(message, body) {
  if (message.type === "open") return open(message);
  if (message.type === "close") return close();
  if (!opened) throw new Failure("not_open", "The storage worker has no database open.");
  const { database, spool } = opened;
  switch (message.type) {
    case "execute":
      return database.execute(message.sql, message.params);
    case "transaction":
      return database.transaction(message.statements);
    case "forget_set_aside":
      return database.forgetSetAside(message.containing);
    case "spool_write":
      return spool.write(message.key, body ?? new Uint8Array());
    case "spool_append":
      return spool.append(message.key, body ?? new Uint8Array());
    case "spool_read":
      return spool.read(message.key, message.start, message.end);
    case "spool_size":
      return spool.size(message.key);
    case "spool_delete":
      return spool.remove(message.prefix);
    default:
      throw new Failure("bad_call", `The storage worker knows no request ${JSON.stringify(message.type)}.`);
  }
}

/** @param {{wasm: string, directory: string}} request */
async function open({ wasm, directory }) {
  if (!opened) {
    const folder = await openFolder(directory);
    const database = await openDatabase(wasm, directory, folder);
    const spool = folder ? new OpfsSpool(await folder.getDirectoryHandle("spool", { create: true })) : new MemorySpool();
    opened = { database, spool };
  }
  const persistent = opened.spool instanceof OpfsSpool;
  return { persistent, notice: persistent ? opened.database.notice : NOT_KEPT };
}

function close() {
  opened?.database.close();
  opened = null;
}

holdLife(post);
