// Models and web search for an assistant in this page: the engine that can ask them, and what it is
// told of them. A chunk of its own, with the engine's glue: pages without models never load it.

import * as glue from "../../../dist/wasm-models/countercheck_models.js";
import { waitingBackend } from "./embedding.ts";
import { teachingBackend } from "./teaching.ts";
import type { CountercheckError } from "./error.ts";
import { PageFunctions } from "./functions.ts";
import type { Kit } from "./kit.ts";
import type { EngineFiles, LocalBackend } from "./local.ts";
import type { Runtime } from "./runtime.ts";
import type {
  CacheOptions,
  Chat,
  EmbeddingModel,
  RetrieveFunction,
  Role,
  Scorer,
  Solver,
  Solvers,
  Timeouts,
  WebSearch,
} from "./services.ts";
import type { AssistantOptions, Backend } from "./types.ts";

let kit: Kit;
let runtime: Runtime<glue.Engine> | undefined;

/** The module with models; in place of the small one, never beside it in one assistant. */
export function modelsRuntime({ Runtime }: Kit): Runtime<glue.Engine> {
  const place = () => new URL("../countercheck_models_bg.wasm", import.meta.url);
  return (runtime ??= new Runtime(glue, place, "countercheck_models_bg.wasm"));
}

const ROLES = ["grade", "rewrite", "generate", "check"] as const satisfies Role[];

/** The backend with the services that the options name, over the files once they are loaded. */
export async function connected(
  options: AssistantOptions,
  files: () => Promise<EngineFiles>,
  shared: Kit,
  runtime = modelsRuntime(shared),
): Promise<Backend> {
  kit = shared;
  const functions = new PageFunctions(runtime.broke);
  const backend = await connectedBackend(options, files, functions, runtime);
  backend.explain = (error) => explain(error, functions);
  return backend;
}

/** A failure of a function of the page has what the function threw as its cause. */
function explain(error: Error, { thrown }: PageFunctions): void {
  // Another service of the assistant may have failed after a function did.
  const failed = error instanceof kit.CountercheckError && error.serviceCode === "function_failed";
  if (failed && "error" in thrown) error.cause = thrown.error;
}

async function connectedBackend(
  options: AssistantOptions,
  files: () => Promise<EngineFiles>,
  functions: PageFunctions,
  runtime: Runtime<glue.Engine>,
): Promise<LocalBackend<glue.Engine>> {
  const connect = connection(options, functions);
  const [loaded] = await Promise.all([files(), runtime.load(options.wasm)]);
  const { embed, retrieve, teacher } = options;
  if (teacher !== undefined) {
    const place = teacher.projection ?? new URL("../projection.f32", import.meta.url);
    const hint = "Serve projection.f32 beside the script, or pass its address as `teacher.projection`.";
    const projection = await kit.loadBytes(place, "the projection of the teacher's vectors", hint);
    const prepare = (engine: glue.Engine) => {
      connect(engine);
      engine.setProjection(projection);
    };
    return teachingBackend(kit, runtime, loaded, prepare, teacher);
  }
  return embed === undefined && retrieve === undefined
    ? new kit.LocalBackend(runtime, loaded, connect)
    : waitingBackend(kit, runtime, loaded, connect, embed !== undefined);
}

/** Checks who is to be asked, once; what is wrong is said before anything is loaded. */
function connection(
  { chat, search, embed, retrieve, cache }: AssistantOptions,
  functions: PageFunctions,
): (engine: glue.Engine) => void {
  const settings: Record<string, unknown> = {};
  for (const role of ROLES) settings[role] = solver(solversOf(chat, role), role, functions);
  if (search !== undefined) settings.search = webSearch(search, functions);
  if (embed !== undefined) settings.embed = embedder(embed);
  if (retrieve !== undefined) settings.retriever = retriever(retrieve, functions);
  if (cache) settings.cache = kept(cache === true ? {} : cache, functions);
  return (engine) => engine.setServices(settings, functions.again());
}

function solversOf(chat: Chat | undefined, role: Role): Solvers | Scorer {
  if (chat === undefined) return "builtin";
  if (typeof chat !== "object" || Array.isArray(chat) || "kind" in chat) return chat as Solvers;
  const unknown = Object.keys(chat).find((name) => !(ROLES as readonly string[]).includes(name));
  if (unknown !== undefined) throw invalid(`chat.${unknown}`, `the roles are ${ROLES.join(", ")}`);
  return chat[role] ?? "builtin";
}

function solver(of: Solvers | Scorer, role: Role, functions: PageFunctions): unknown {
  const { models, scorers } = functions;
  if (Array.isArray(of)) return { kind: "ordered", of: of.map((one: Solver) => solver(one, role, functions)) };
  if (of === "builtin") return { kind: "builtin" };
  if (typeof of === "function") return { kind: "own", number: models.push(of) - 1 };
  if (of.kind === "chat") {
    const { vendor, model, confidence = false } = of;
    return { kind: "chat", vendor, model: String(model ?? ""), place: place("chat", of, ["model", "confidence"]), confidence };
  }
  if (of.kind === "completions") {
    return { kind: "completions", model: String(of.model ?? ""), place: place("chat", of, ["model"]) };
  }
  if (of.kind === "worker") return { kind: "worker", place: worker("chat", of) };
  if (of.kind === "scorer") return { kind: "scorer", number: scorers.push(of.score) - 1 };
  throw invalid(`chat (${role})`, 'give openai({ … }) or another vendor, endpoint("https://…"), a function or "builtin"');
}

function webSearch(of: WebSearch, { searches }: PageFunctions): unknown {
  if (typeof of === "function") return { kind: "own", number: searches.push(of) - 1 };
  if (of.kind === "search") {
    const { vendor, model, engine, gateway } = of;
    const own = ["model", "engine", "gateway"];
    return { kind: "vendor", vendor, place: place("search", of, own), options: given({ model, engine, gateway }) };
  }
  if (of.kind === "worker") return { kind: "worker", place: worker("search", of) };
  throw invalid("search", 'give tavily({ … }) or another vendor, endpoint("https://…") or a function');
}

function embedder(of: EmbeddingModel): unknown {
  if (of.kind !== "embeddings") throw invalid("embed", "give openaiEmbeddings({ … }) or those of another vendor");
  const { vendor, model, dimensions } = of;
  return { vendor, model: String(model ?? ""), place: place("embed", of, ["model", "dimensions"]), ...given({ dimensions }) };
}

/** What is given of what may be. */
function given(options: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

interface Placed {
  readonly kind: string;
  readonly vendor?: string;
  baseUrl?: string;
  key?: string;
  timeouts?: Timeouts;
}

/** Where a service is, which has options of its own besides. */
function place(option: string, of: Placed, own: string[] = []): unknown {
  const { kind: _, vendor: __, ...options } = of;
  mustKnow(option, options, [...own, "baseUrl", "key", "timeouts"]);
  const { baseUrl, key, timeouts } = options;
  mustKnow(`${option}.timeouts`, timeouts ?? {}, ["headers", "idle"]);
  return given({ base_url: baseUrl, key, headers_ms: timeouts?.headers, idle_ms: timeouts?.idle });
}

/** A Worker may be at an address of the page's own. */
function worker(option: string, of: Placed): unknown {
  const { baseUrl } = of;
  return place(option, typeof location === "object" ? { ...of, baseUrl: new URL(baseUrl ?? "", location.href).href } : of);
}

/** A name that nobody knows is a slip: what it was to set would be missing without a word. */
function mustKnow(option: string, given: object, names: string[]): void {
  if (typeof given !== "object") throw new kit.CountercheckError("invalid_option", `\`${option}\` must be an object`);
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))?.[0];
  if (unknown === undefined) return;
  throw new kit.CountercheckError("unknown_field", `\`${option}\` has no \`${unknown}\`: there are ${names.join(", ")}`);
}

function kept(cache: CacheOptions, functions: PageFunctions): unknown {
  const { maxBytes, name, get, set } = cache;
  mustKnow("cache", cache, ["maxBytes", "name", "get", "set"]);
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= 0)) {
    throw new kit.CountercheckError("invalid_option", "`cache.maxBytes` must be a whole number of bytes, 0 or more");
  }
  const stores = get !== undefined && set !== undefined;
  if (stores) functions.store = cache;
  return { store: stores, ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }), ...(name === undefined ? {} : { name }) };
}

function retriever(of: RetrieveFunction, { retrievers }: PageFunctions): number {
  if (typeof of !== "function") throw invalid("retrieve", "give a function");
  return retrievers.push(of) - 1;
}

function invalid(option: string, hint: string): CountercheckError {
  return new kit.CountercheckError("invalid_option", `\`${option}\` is nothing that can be asked: ${hint}`);
}
