// A stored conversation as elements.
import { AnswerElement, interruptedElement, questionElement } from "./messages.js";

/**
 * @typedef {object} Deeds
 * @property {(texts: string[], ...elements: HTMLElement[]) => void} again  asks `texts` again; `elements` go away by it
 * @property {(message: string, verdict: "up" | "down" | null) => Promise<unknown>} judge
 */

/**
 * @param {any[]} messages each a StoredMessage of py_agent/model/record.py, its sources with links
 * @param {Deeds} deeds
 * @returns {HTMLElement[]}
 */
export function storedElements(messages, deeds) {
  return groups(messages).flatMap((group) => elementsOf(group, deeds));
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
 * @param {Deeds} deeds
 * @returns {HTMLElement[]}
 */
function elementsOf(group, { again, judge }) {
  const [{ id, role, content, state, status, sources, related, feedback }] = group;
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
  const turn = { status: status ?? "answered", answer: content, sources: sources ?? [], related: related ?? [] };
  answer.finish(turn, { verdict: feedback?.verdict ?? null, judge: (verdict) => judge(id, verdict) });
  return [answer.element];
}
