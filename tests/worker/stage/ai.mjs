// The built Worker bound to a stand-in for Workers AI: models of older and newer form, and a web search. What
// they are asked is logged, one line of JSON each.
import { withEnv } from "cloudflare:workers";
import worker from "../../../dist/worker/entry.js";

const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
const events = (...data) => data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");

const AI = {
  async run(model, inputs, options) {
    const { signal, ...others } = options;
    console.log(`AI ${JSON.stringify({ model, inputs, options: others, signal: signal instanceof AbortSignal })}`);
    if (model === "@cf/slow") return abandoned(signal);
    if (model === "@cf/spent") return Response.json({ success: false, errors: [{ code: 3036, message: "upstream text" }] }, { status: 429 });
    if (inputs.text !== undefined) return Response.json({ shape: [inputs.text.length, 2], data: inputs.text.map(() => [0.6, 0.8]) });
    if (inputs.stream) {
      const body = events({ response: "Ten minutes " }, { response: "[1]." }, { response: "", usage: USAGE }, "[DONE]");
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    }
    return Response.json({ response: { score: "no" }, usage: USAGE });
  },
  async websearch(inputs) {
    console.log(`AI ${JSON.stringify({ websearch: inputs })}`);
    return Response.json({ items: [{ url: "https://web.example/dough", title: "Dough", description: "Ten minutes of kneading." }], metadata: {} });
  },
};

/** Never a reply; logs that nobody waits for it any longer. */
function abandoned(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      console.log('AI {"abandoned":true}');
      reject(signal.reason);
    });
  });
}

export default {
  fetch: (request, env, context) => withEnv(env.UNBOUND ? env : { ...env, AI }, () => worker.fetch(request, env, context)),
};
