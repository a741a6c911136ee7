// Times the page's own search in Node: node twin.mjs SEARCH_JS INDEX ROUNDS < questions.json
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [module, folder, rounds] = process.argv.slice(2);
const { SearchIndex } = await import(pathToFileURL(module).href);
const get = async (url) => new Response(await readFile(new URL(url)));
const index = await SearchIndex.open(pathToFileURL(`${folder}/manifest.json`).href, get);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const questions = JSON.parse(Buffer.concat(chunks).toString());

const ask = async (question) => {
  const begin = performance.now();
  const { hits } = await index.search(question, 10);
  return { ms: performance.now() - begin, hits: hits.map(({ passage }) => passage.id) };
};
const first = [];
for (const question of questions) first.push(await ask(question));
const warm = [];
for (let round = 0; round < Number(rounds); round++) for (const question of questions) warm.push((await ask(question)).ms);
process.stdout.write(JSON.stringify({ first: first.map(({ ms }) => ms), warm, hits: first.map(({ hits }) => hits) }));
