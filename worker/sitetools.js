// A site's own tools: one Python wheel from the site's own origin, pinned by its hash, unpacked without an index.

import { Failure, describe } from "./failure.js";

/** Bytes of a wheel at most: tools are code, and a reader waits for them before the first question. */
export const MAX_WHEEL_BYTES = 2_000_000;

const HINT = "Build the wheel again, put its new hash behind #sha256= in data-tools, and upload both.";

/**
 * @param {string} setting the wheel's address with `#sha256=`, checked by web/config.js
 * @returns {Promise<ArrayBuffer>}
 */
export async function fetchWheel(setting) {
  const { href, hash } = new URL(setting);
  const url = href.slice(0, href.length - hash.length);
  const wanted = hash.replace("#sha256=", "").toLowerCase();
  let response;
  try {
    // Another origin must not learn of the reader through a redirect.
    response = await fetch(url, { redirect: "error", credentials: "omit" });
  } catch (thrown) {
    throw new Failure("site_tools", `The site's own tools at ${url} cannot be fetched (${describe(thrown)}).`, HINT);
  }
  if (!response.ok) throw new Failure("site_tools", `The site's own tools: ${url} answers with status ${response.status}.`, HINT);
  const data = await response.arrayBuffer();
  if (data.byteLength > MAX_WHEEL_BYTES) {
    throw new Failure("site_tools", `The wheel at ${url} has ${data.byteLength} bytes; at most ${MAX_WHEEL_BYTES} are taken.`, HINT);
  }
  const found = [...new Uint8Array(await crypto.subtle.digest("SHA-256", data))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== wanted) {
    throw new Failure("site_tools", `The wheel at ${url} has the SHA-256 ${found}, but ${wanted} was pinned.`, HINT);
  }
  return data;
}
