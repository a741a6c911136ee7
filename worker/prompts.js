// From the harness's prompt (py_agent/model/prompt.py) to what LiteRT-LM's conversations take: all but the last message
// stand in the preface, the last one is sent. The engine applies the model's own template.

/**
 * @typedef {{name: string, arguments: Record<string, any>}} Call
 * @typedef {{role: "system" | "user" | "model" | "tool", content: string, calls: Call[], name: string | null}} PromptMessage
 * @typedef {{name: string, description: string, parameters: Record<string, any>}} ToolSpec
 * @typedef {{messages: PromptMessage[], tools: ToolSpec[], thinking: boolean}} Prompt
 * @typedef {import("@litert-lm/core").Message} Message
 */

/**
 * @param {Prompt} prompt
 * @returns {{preface: import("@litert-lm/core").Preface, last: Message}}
 */
export function toConversation(prompt) {
  const messages = prompt.messages.map(toMessage);
  const last = messages.pop();
  if (!last) throw new Error("a prompt without a message");
  const tools = prompt.tools.map((tool) => ({ type: "function", function: { ...tool } }));
  /** @type {import("@litert-lm/core").Preface} */
  const preface = { messages, extra_context: { enable_thinking: prompt.thinking } };
  if (tools.length) preface.tools = tools;
  return { preface, last };
}

/**
 * @param {PromptMessage} message
 * @returns {Message}
 */
function toMessage({ role, content, calls, name }) {
  if (role === "tool") return { role, content: [{ type: "tool_response", name: name ?? "", response: content }] };
  /** @type {Message} */
  const message = { role: role === "model" ? "assistant" : role, content };
  if (calls.length) message.tool_calls = calls.map((call) => ({ type: "function", function: { ...call } }));
  return message;
}

/**
 * What one streamed message of the engine holds.
 * @param {Message} message
 * @returns {{text: string, thinking: string, call: Call | null}[]} a piece per call; empty if it holds nothing
 */
export function toPieces(message) {
  const { content, channels, tool_calls: calls } = message;
  const parts = typeof content === "string" ? [content] : (content ?? []).map((part) => (part.type === "text" ? String(part.text) : ""));
  const text = parts.join("");
  const thinking = Object.values(channels ?? {}).join("");
  const pieces = text || thinking ? [{ text, thinking, call: /** @type {Call | null} */ (null) }] : [];
  for (const { function: called } of calls ?? []) {
    pieces.push({ text: "", thinking: "", call: { name: called.name, arguments: called.arguments ?? {} } });
  }
  return pieces;
}
