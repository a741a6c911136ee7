/** The page's twin of py_agent.model.errors.AgentError: what happened, what to do next, and a name for programs. */
export class PyAgentError extends Error {
  /**
   * @param {string} code     a stable snake_case name that programs may test
   * @param {string} message  what happened and what it means
   * @param {string} hint     what to do next
   */
  constructor(code, message, hint = "") {
    super(hint ? `${message} ${hint}` : message);
    this.name = "PyAgentError";
    this.code = code;
    /** The message without the hint, for a display that sets them apart. */
    this.summary = message;
    this.hint = hint;
  }

  /**
   * The error that came over a port, as an exception.
   * @param {import("../worker/protocol.js").WireError} wire
   */
  static fromWire(wire) {
    return new PyAgentError(wire.code, wire.message, wire.hint);
  }

  /**
   * Whatever was thrown, as one of ours.
   * @param {unknown} thrown
   */
  static from(thrown) {
    if (thrown instanceof PyAgentError) return thrown;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new PyAgentError("unexpected", `Something went wrong in the page: ${text}`, "Reload the page and try again.");
  }
}
