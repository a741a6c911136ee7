import type { Assets } from "../worker/protocol.js";

declare global {
  /** The asset map that the build writes into the loader. */
  const __PY_AGENT_ASSETS__: Assets;
}
