// A stored conversation as elements.
import { AnswerElement, interruptedElement, questionElement } from "./messages.js";

/** @typedef {(texts: string[], ...elements: HTMLElement[]) => void} Again  asks `texts` again; `elements` go away by it */

/**
 * @param {any[]} messages each a StoredMessage of py_agent/model/record.py, its sources with links
 * @param {Again} again
 * @returns {HTMLElement[]}
 */
export function storedElements(messages, again) {
  return groups(messages).flatMap((group) => elementsOf(group, again));
}

/**
 * What belongs to one interrupted turn together, and not at all what was asked again.
 * @param {any[]} messages
 * @returns {any[][]}
 */
function groups(messages) {
  /** @type {any[][]} */
  const all = [];
  for (const message of messages) {
    const last = all.at(-1)?.at(-1);
    const together = message.state === "interrupted" && last?.state === "interrupted" && message.turn && message.turn === last.turn;
    if (together) all.at(-1)?.push(message);
    else all.push([message]);
  }
  return all.filter((group, at) => group[0].state !== "interrupted" || !all.slice(at + 1).some((later) => wordsOf(later) === wordsOf(group)));
}

/** @param {any[]} group */
function wordsOf(group) {
  return group[0].role === "user" ? group.map((message) => message.content).join("\n\n") : null;
}

/**
 * @param {any[]} group one message, or the question and additions of one interrupted turn
 * @param {Again} again
 * @returns {HTMLElement[]}
 */
function elementsOf(group, again) {
  const [{ role, content, state, status, sources, related }] = group;
  if (role === "user") {
    const texts = group.map((message) => message.content);
    const elements = texts.map(questionElement);
    if (state !== "interrupted") return elements;
    const line = interruptedElement(() => again(texts, ...elements, line));
    return [...elements, line];
  }
  const answer = new AnswerElement(
    () => {},
    () => {},
  );
  answer.finish({ status: status ?? "answered", answer: content, sources: sources ?? [], related: related ?? [] });
  return [answer.element];
}
