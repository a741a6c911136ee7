// Entry of the session worker (a module: Pyodide refuses classic workers). All it does is in host.js.

import { startHost } from "./host.js";

startHost(/** @type {import("./host.js").HostPort} */ (/** @type {unknown} */ (globalThis)));
