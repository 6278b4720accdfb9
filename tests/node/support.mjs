// A small corpus and what the tests in Node share. Import after the build: it loads dist/node.js.
import { readFileSync } from "node:fs";
import * as page from "../../dist/countercheck.js";
import { createAssistant } from "../../dist/node.js";

/** The documentation of a thing that does not exist. */
export const DOCUMENTS = [
  {
    id: "keys.md",
    url: "https://docs.example/keys",
    text: `# Keys

Every request to the service is signed with a key.

## Rotating a key

Create the new key with \`quay keys create\` and deploy it everywhere. Then revoke the old key with \`quay keys revoke\`.
A revoked key stops working within one minute.

## Storing a key

Keep keys in the secret store of your platform. A key must never be committed to a repository.
`,
  },
  {
    id: "limits.md",
    url: "https://docs.example/limits",
    text: `# Limits

## Request body

The \`bodyLimit\` option sets the maximum size of a request body in bytes. Its default is 1048576 bytes (1 MiB).
A request with a larger body is answered with status 413.

## Rate limit

Each key may send 600 requests a minute. Further requests are answered with status 429.
`,
  },
  {
    id: "webhooks.md",
    url: "https://docs.example/webhooks",
    text: `# Webhooks

The service calls your webhook after each deployment. The call has a timeout of ten seconds.

## Verifying the signature

Compare the \`x-quay-signature\` header with the HMAC of the body. Reject the call if they differ.
`,
  },
];

export const QUESTION = "How do I limit the size of a request body?";

/** The bytes of a file that was built. */
export const built = (name) => readFileSync(new URL(`../../dist/${name}`, import.meta.url));

/** Makes an assistant as a page does, over the modules of pages, which Node does not load by itself. */
export function createPageAssistant({ embedder = built("embedder.bin"), ...options } = {}) {
  const { chat, search } = options;
  const wasm = built(chat || search ? "countercheck_models_bg.wasm" : "countercheck_bg.wasm");
  return page.createAssistant({ wasm, ingestWasm: () => built("countercheck_models_bg.wasm"), embedder, ...options });
}

/** Who makes assistants, by the modules that are loaded. */
export const MODULES = { "Node's module": createAssistant, "pages' modules": createPageAssistant };

/** An assistant over the small corpus, disposed of when the test ends. */
export async function assistantFor(t, options = {}, create = createAssistant) {
  const assistant = await create(options);
  t.after(() => assistant.dispose());
  if (options.index === undefined) await assistant.add(DOCUMENTS);
  return assistant;
}

/** The text between two byte offsets of a document. */
export function bytesOf(id, start, end) {
  const { text } = DOCUMENTS.find((document) => document.id === id);
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(start, end));
}
