// The self-reflective path as a LangGraph.js graph: retrieve, grade each passage at once, the web if one was
// rejected, draft, grounding, usefulness, three attempts at the most.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const MAX_ATTEMPTS = 3;

/**
 * @param {(request: { role: string, messages: { role: string, content: string }[] }) => Promise<string>} model
 * @param {(question: string) => { title: string, text: string }[]} search
 * @returns {(question: string) => Promise<{ draft: string, grounded: boolean, useful: boolean }>}
 */
export function langgraph(model, search) {
  const ask = (role, system, content) => model({ role, messages: [{ role: "system", content: system }, { role: "user", content }] });
  const said = (reply, field) => JSON.parse(reply)[field] === "yes";
  const shown = (passages) => passages.map(({ title, text }, i) => `[${i + 1}]\n${title}\n\n${text}`).join("\n\n");

  const retrieve = ({ question }) => ({ passages: search(question) });
  const grade = async ({ question, passages }) => {
    const replies = await Promise.all(
      passages.map((passage) => ask("grade", "You grade passages: yes or no.", `Question: ${question}\n\n${shown([passage])}`)),
    );
    const kept = passages.filter((_, i) => said(replies[i], "score"));
    return { kept, needWeb: kept.length < passages.length };
  };
  const web = ({ kept }) => ({ kept: [...kept, { title: "Web", text: "A page of the web." }] });
  const generate = async ({ question, kept, attempts = 0 }) => ({
    draft: await ask("generate", "You answer from documents and cite them.", `Question: ${question}\n\n${shown(kept)}`),
    attempts: attempts + 1,
  });
  const ground = async ({ draft, kept }) => ({
    grounded: said(await ask("check", "You check an answer against documents.", `${shown(kept)}\n\nAnswer: ${draft}`), "grounded"),
  });
  const use = async ({ question, draft }) => ({
    useful: said(await ask("check", "You judge an answer.", `Question: ${question}\n\nAnswer: ${draft}`), "useful"),
  });

  const again = (next) => ({ attempts }) => (attempts < MAX_ATTEMPTS ? next : END);
  const fields = ["question", "passages", "kept", "needWeb", "draft", "attempts", "grounded", "useful"];
  const graph = new StateGraph(Annotation.Root(Object.fromEntries(fields.map((field) => [field, Annotation()]))))
    .addNode("retrieve", retrieve)
    .addNode("grade", grade)
    .addNode("web", web)
    .addNode("generate", generate)
    .addNode("ground", ground)
    .addNode("use", use)
    .addEdge(START, "retrieve")
    .addEdge("retrieve", "grade")
    .addConditionalEdges("grade", ({ needWeb }) => (needWeb ? "web" : "generate"), ["web", "generate"])
    .addEdge("web", "generate")
    .addEdge("generate", "ground")
    .addConditionalEdges("ground", (state) => (state.grounded ? "use" : again("generate")(state)), ["use", "generate", END])
    .addConditionalEdges("use", (state) => (state.useful ? END : again("web")(state)), ["web", END])
    .compile();
  return (question) => graph.invoke({ question });
}
