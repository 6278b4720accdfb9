// A Worker of one's own: answers what is posted, from the index among its assets.
import { createAssistant } from "countercheck";
import embedder from "countercheck/embedder.bin";

let assistant;

export default {
  async fetch(request, env) {
    if (request.method !== "POST") return withoutEmbedder();
    const index = () => env.ASSETS.fetch(new URL("/docs.ccx", request.url));
    // Not the promise: a request must not wait for what another one has begun.
    assistant ??= await createAssistant({ index: await index(), embedder });
    return Response.json(await assistant.ask(await request.text()));
  },
};

function withoutEmbedder() {
  return createAssistant().then(
    () => new Response("made"),
    ({ code, message }) => new Response(`${code}: ${message}`),
  );
}
