// A function for each vendor: its name, and what it must be told. The engine knows what is said to whom.

import type {
  At,
  ChatModel,
  ChatOptions,
  EmbeddingModel,
  EmbeddingOptions,
  Of,
  SearchService,
  ServiceOptions,
} from "./services.ts";

// One for all: what is given, under the vendor's name; Cloudflare has each account's services at its own address.
const make =
  (kind: string, path: string) =>
  (vendor: string) =>
  ({ account, ...options }: { account?: string }) => ({
    kind,
    vendor,
    ...(account && { baseUrl: `https://api.cloudflare.com/client/v4/accounts/${encodeURIComponent(account)}/ai${path}` }),
    ...options,
  });

type Vendors<Usual, Service> = <Options = Usual>(vendor: string) => (options: Options) => Service;

const chat = /* @__PURE__ */ make("chat", "/v1") as Vendors<ChatOptions, ChatModel>;
const embeddings = /* @__PURE__ */ make("embeddings", "/v1") as Vendors<EmbeddingOptions, EmbeddingModel>;
const search = /* @__PURE__ */ make("search", "") as Vendors<ServiceOptions & { key: string }, SearchService>;

/** Any OpenAI-compatible endpoint; `baseUrl` says which. */
export const openai = /* @__PURE__ */ chat<At<ChatOptions>>("openai");
/** Ollama, by default on this machine. */
export const ollama = /* @__PURE__ */ chat("ollama");
/** llama.cpp's server, by default on this machine. */
export const llamaCpp = /* @__PURE__ */ chat("llama-cpp");
/** vLLM, by default on this machine. */
export const vllm = /* @__PURE__ */ chat("vllm");
/** Groq. */
export const groq = /* @__PURE__ */ chat("groq");
/** OpenRouter. */
export const openrouter = /* @__PURE__ */ chat("openrouter");
/** Mistral. */
export const mistral = /* @__PURE__ */ chat("mistral");
/** Anthropic. */
export const anthropic = /* @__PURE__ */ chat("anthropic");
/** Google's Gemini. */
export const gemini = /* @__PURE__ */ chat("gemini");
/** Cloudflare Workers AI, by its REST API. It lets no page of another origin in. */
export const workersAi = /* @__PURE__ */ chat<Of<ChatOptions>>("workers-ai");

/** Embeddings of any OpenAI-compatible endpoint; `baseUrl` says which. */
export const openaiEmbeddings = /* @__PURE__ */ embeddings<At<EmbeddingOptions>>("openai");
/** Embeddings of Ollama, by default on this machine. */
export const ollamaEmbeddings = /* @__PURE__ */ embeddings("ollama");
/** Embeddings of llama.cpp's server, by default on this machine. */
export const llamaCppEmbeddings = /* @__PURE__ */ embeddings("llama-cpp");
/** Embeddings of vLLM, by default on this machine. */
export const vllmEmbeddings = /* @__PURE__ */ embeddings("vllm");
/** Embeddings of OpenRouter. */
export const openrouterEmbeddings = /* @__PURE__ */ embeddings("openrouter");
/** Mistral's embeddings. */
export const mistralEmbeddings = /* @__PURE__ */ embeddings("mistral");
/** Google's embeddings. */
export const geminiEmbeddings = /* @__PURE__ */ embeddings("gemini");
/** The embeddings of Cloudflare Workers AI, by its REST API. */
export const workersAiEmbeddings = /* @__PURE__ */ embeddings<Of<EmbeddingOptions>>("workers-ai");

/** Web search by Tavily, or by a relay of it that has the key. */
export const tavily = /* @__PURE__ */ search<ServiceOptions>("tavily");
/** Brave's web search. It lets no page of another origin in. */
export const brave = /* @__PURE__ */ search("brave");
/** A SearXNG server that gives JSON. */
export const searxng = /* @__PURE__ */ search<At<ServiceOptions>>("searxng");
/** Exa's search. */
export const exa = /* @__PURE__ */ search("exa");
/** Serper, which asks Google. It lets no page of another origin in. */
export const serper = /* @__PURE__ */ search("serper");
/** Jina's search. */
export const jina = /* @__PURE__ */ search<ServiceOptions>("jina");
/** A model of Mistral's that searches the web: what it writes is one page with several addresses. */
export const mistralSearch = /* @__PURE__ */ search<ServiceOptions & { key: string; model?: string }>("mistral");
/** Cloudflare's web search: `engine` is `ceramic`, `exa` or `linkup`, `gateway` the one of that name. It lets no page of another origin in. */
export const cloudflareSearch = /* @__PURE__ */ search<Of<ServiceOptions & { engine?: string; gateway?: string }>>("cloudflare");
