// Builds another engine's index of our passages and asks it: node peers.mjs ENGINE PASSAGES.jsonl OUT ROUNDS < questions.json
// Prints {seconds, bytes, hits: [[[number, score], ...] a question], ms: [...]}. Each engine gets what its manual offers: weights of
// fields, prefixes and tolerance where they help; words without content are gone from the questions.
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const WEIGHTS = { heading: 3, path: 1.5, title: 2, text: 1 };
const FIELDS = Object.keys(WEIGHTS);
/** More than the ten that count: several of a page's passages may have one address, and only the first of them stays. */
const LIMIT = 30;
/** Records that are handed to Pagefind's process at a time. */
const RECORDS = 200;

const gzipped = (json) => gzipSync(json, { level: 9 }).length;

const engines = {
  async minisearch(passages) {
    const { default: MiniSearch } = await import("minisearch");
    const index = new MiniSearch({
      idField: "n",
      fields: FIELDS,
      searchOptions: {
        boost: WEIGHTS,
        prefix: (term) => term.length > 3,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        weights: { prefix: 0.2, fuzzy: 0.1 },
      },
    });
    index.addAll(passages);
    return {
      bytes: () => gzipped(JSON.stringify(index)),
      ask: (question) => index.search(question).slice(0, LIMIT).map(({ id, score }) => [id, score]),
    };
  },

  async lunr(passages) {
    const { default: lunr } = await import("lunr");
    const index = lunr(function () {
      this.ref("n");
      for (const field of FIELDS) this.field(field, { boost: WEIGHTS[field] });
      for (const passage of passages) this.add(passage);
    });
    return {
      bytes: () => gzipped(JSON.stringify(index)),
      ask: (question) =>
        index
          .query((query) => lunr.tokenizer(question).forEach((token) => query.term(token.toString(), {})))
          .slice(0, LIMIT)
          .map(({ ref, score }) => [Number(ref), score]),
    };
  },

  async orama(passages) {
    const { create, insertMultiple, save, search } = await import("@orama/orama");
    const index = create({ schema: Object.fromEntries(FIELDS.map((field) => [field, "string"])) });
    await insertMultiple(index, passages.map(({ n, ...fields }) => ({ id: String(n), ...fields })));
    return {
      // What it saves holds the texts, too; they are not counted for any engine.
      bytes: () => gzipped(JSON.stringify({ ...save(index), docs: null })),
      ask: async (term) => {
        const { hits } = await search(index, { term, boost: WEIGHTS, limit: LIMIT });
        return hits.map(({ id, score }) => [Number(id), score]);
      },
    };
  },

  async pagefind(passages, out) {
    const pagefind = await import("pagefind");
    const { index } = await pagefind.createIndex({});
    for (let start = 0; start < passages.length; start += RECORDS) {
      const part = passages.slice(start, start + RECORDS).map(({ n, path, title, text }) =>
        index.addCustomRecord({ url: `/${n}`, content: `${title}. ${path}. ${text}`, language: "en", meta: { title: path || title } }),
      );
      for (const { errors } of await Promise.all(part)) if (errors.length) throw new Error(errors.join("; "));
    }
    const { errors } = await index.writeFiles({ outputPath: out });
    if (errors.length) throw new Error(errors.join("; "));
    await pagefind.close();
    const sizes = async (folder) => Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
    const metas = (await readdir(out)).filter((name) => name.endsWith(".pf_meta")).map(async (name) => (await stat(join(out, name))).size);
    const all = [...(await sizes(join(out, "index"))), ...(await Promise.all(metas))];
    // It answers only in a browser: _search_page.py asks it there.
    return { bytes: () => all.reduce((sum, size) => sum + size, 0), ask: null };
  },
};

const [engine, file, out, rounds] = process.argv.slice(2);
const passages = (await readFile(file, "utf8")).split("\n").filter(Boolean).map((line) => JSON.parse(line));
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const questions = JSON.parse(Buffer.concat(chunks).toString());

const begin = performance.now();
const { bytes, ask } = await engines[engine](passages, out);
const seconds = (performance.now() - begin) / 1000;

const hits = [];
const ms = [];
if (ask) {
  for (const { question, mine } of questions) {
    const found = await ask(question);
    if (mine) hits.push(found);
  }
  for (let round = 0; round < Number(rounds); round++) {
    for (const { question } of questions) {
      const start = performance.now();
      await ask(question);
      ms.push(performance.now() - start);
    }
  }
}
process.stdout.write(JSON.stringify({ seconds, bytes: bytes(), hits, ms }));
