// What is compared: each system has all sections, and gives a ranking of their ids for a text.
import { createServer } from "node:http";
import { createAssistant, openaiEmbeddings, teacher } from "../../dist/node.js";
import { kept } from "./encoder.mjs";

/** @typedef {{ name: string, dense?: boolean, search: (text: string, weight?: number) => unknown[] | Promise<unknown[]> }} System */

/** As many as each peer gives; of a section that two of them are of, one place is left empty. */
const K = 10;

/** Our index with one kind of vectors, built by `add` and loaded as a page does; ids come best first. */
async function ours(sections, making, asking = making) {
  const builder = await createAssistant(making);
  for (const { id, page, text, format } of sections) await builder.add({ id, title: page, text, format });
  const index = await builder.save();
  builder.dispose();
  const assistant = await createAssistant({ ...asking, index });
  const ids = async (text, options) => [...new Set((await assistant.search(text, K, options)).map(({ documentId }) => documentId))];
  return { ids, assistant, bytes: index.length };
}

/** BM25, and BM25 with vectors: of the table, of its teacher for passages, and of the teacher for both. */
export async function countercheck(sections, directory) {
  const words = await ours(sections, { embedder: false });
  const table = await ours(sections, {});
  /** @type {System[]} */
  const systems = [{ name: "BM25", search: (text) => words.ids(text) }];
  const hybrid = (name, { ids }) => {
    systems.push({ name, search: (text) => ids(text, { denseWeight: 1 }) });
    systems.push({ name: `${name} + BM25`, dense: true, search: (text, denseWeight) => ids(text, { denseWeight }) });
    systems.push({ name: `${name} + BM25, by ranks`, search: (text) => ids(text, { fusion: "reciprocal-rank" }) });
  };
  hybrid("table", table);
  if (directory === undefined) return { systems, close: () => {} };
  const { encode } = await teacher(directory);
  const cached = kept(encode, "minilm-l6-v2-int8");
  hybrid("table, teacher's passages", await ours(sections, { teacher: { encode: cached } }, {}));
  const served = await serve(cached);
  const embed = openaiEmbeddings({ baseUrl: served.url, model: "all-MiniLM-L6-v2" });
  hybrid("MiniLM", await ours(sections, { embed }));
  return { systems, close: served.close };
}

/** The model behind the API that most services speak, for the index whose queries it embeds too. */
async function serve(encode) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input } = JSON.parse(Buffer.concat(chunks).toString());
    const vectors = await encode([input].flat());
    const data = vectors.map((vector, index) => ({ index, embedding: Array.from(vector) }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data, usage: { prompt_tokens: 0, total_tokens: 0 } }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close };
}

/** The peers, each as its documentation has it for English prose. @returns {Promise<System[]>} */
export async function peers(sections) {
  const documents = sections.map(({ id, page, text }, number) => ({ number, id, page, text }));
  return [await miniSearch(documents), await flexSearch(documents), await orama(documents)];
}

async function miniSearch(documents) {
  const { default: MiniSearch } = await import("minisearch");
  const index = new MiniSearch({ idField: "number", fields: ["page", "text"] });
  index.addAll(documents);
  return { name: "MiniSearch", search: (text) => index.search(text).slice(0, 10).map(({ id }) => documents[id].id) };
}

/** With its English preset and one field: of four ways to set it up the one that finds most. */
async function flexSearch(documents) {
  const { Charset, Encoder, Index } = await import("flexsearch");
  const { default: english } = await import("flexsearch/lang/en");
  const index = new Index({ tokenize: "strict", encoder: new Encoder(Charset.LatinDefault, english) });
  for (const { number, page, text } of documents) index.add(number, `${page}. ${text}`);
  return { name: "FlexSearch", search: (text) => index.search(text, { limit: 10, suggest: true }).map((number) => documents[number].id) };
}

const STOP_WORDS =
  "a an and are as at be by can do does for from how i if in is it its me my of on or that the this to was what when where which who why will with you your";

/** With stems, stop words and one field: of five ways to set it up the one that finds most. */
async function orama(documents) {
  const { create, insertMultiple, search } = await import("@orama/orama");
  const tokenizer = { stemming: true, stopWords: STOP_WORDS.split(" ") };
  const index = create({ schema: { text: "string" }, components: { tokenizer } });
  await insertMultiple(index, documents.map(({ number, page, text }) => ({ id: String(number), text: `${page}. ${text}` })));
  const ids = async (term) => (await search(index, { term, limit: 10 })).hits.map(({ id }) => documents[Number(id)].id);
  return { name: "Orama", search: ids };
}
