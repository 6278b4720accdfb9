// Functions of the page, and of the platform, as the engine calls them: by number, each reply handed back with the number of its
// call. What few functions look at, a signal and a schema, is made when they do.

import type {
  CacheOptions,
  ChatContext,
  ChatFunction,
  ChatRequest,
  RetrieveFunction,
  Role,
  ScoreFunction,
  ScoreRequest,
  SearchFunction,
} from "./services.ts";

/** The functions that an assistant was given, in the form that the engine knows. */
export class PageFunctions {
  readonly models: ChatFunction[] = [];
  readonly scorers: ScoreFunction[] = [];
  readonly searches: SearchFunction[] = [];
  readonly retrievers: RetrieveFunction[] = [];
  store: CacheOptions | undefined;
  /** What the one that ended last threw, if it threw: the engine only hears that it failed. */
  thrown: { error?: unknown } = {};
  /** What is under way; what the platform is asked for is not told when nobody wants it any longer. */
  readonly #calls = new Map<number, Call | undefined>();
  readonly #held = new Map<number, () => void>();
  readonly #broke: (error: unknown) => void;
  #hand: (call: number, fulfilled: boolean, reply: unknown) => void = () => {};
  #handText: (call: number, text: string) => void = () => {};

  /** @param broke takes what an engine threw that was handed a reply */
  constructor(broke: (error: unknown) => void) {
    this.#broke = broke;
  }

  /** The same functions for an engine that is built again: what the old one asked concerns it no longer. */
  again(): PageFunctions {
    const functions = new PageFunctions(this.#broke);
    for (const list of ["models", "scorers", "searches", "retrievers"] as const) functions[list].push(...(this[list] as never[]));
    functions.store = this.store;
    functions.thrown = this.thrown;
    return functions;
  }

  /** Called by the engine: who takes replies, and pieces of drafts. */
  connect(settle: (call: number, fulfilled: boolean, reply: unknown) => void, told: (call: number, text: string) => void) {
    this.#hand = settle;
    this.#handText = told;
  }

  /** Hands over what came of a call, unless nobody waits for it any longer. */
  #settle(call: number, fulfilled: boolean, reply: unknown): void {
    if (!this.#calls.delete(call)) return;
    try {
      this.#hand(call, fulfilled, reply);
    } catch (error) {
      this.#broke(error);
    }
  }

  #told(call: number, text: string): void {
    if (!this.#calls.has(call)) return;
    try {
      this.#handText(call, text);
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Called by the engine; of the prompt the first `system` characters are the system's. */
  ask(
    call: number,
    model: number,
    role: Role,
    prompt: string,
    system: number,
    temperature: number | undefined,
    maxTokens: number,
    schema: string | undefined,
  ): void {
    const messages: ChatRequest["messages"] = [
      { role: "system", content: prompt.slice(0, system) },
      { role: "user", content: prompt.slice(system) },
    ];
    const asked = (
      schema === undefined
        ? { role, messages, temperature, maxTokens }
        : { role, messages, temperature, maxTokens, schema: schemaOf(schema) }
    ) as ChatRequest;
    const onText = (text: string) => this.#told(call, text);
    this.#call(call, (under) => (this.models[model] as ChatFunction)(asked, contextOf(under, "onText", onText)), onText);
  }

  /** Called by the engine. */
  score(call: number, scorer: number, request: ScoreRequest): void {
    const ask = this.scorers[scorer] as ScoreFunction;
    this.#call(call, async (under) => [...(await ask(request, new Context(under)))]);
  }

  /** Called by the engine. */
  search(call: number, search: number, query: string, limit: number): void {
    const ask = this.searches[search] as SearchFunction;
    this.#call(call, (under) => ask(query, contextOf(under, "limit", limit)));
  }

  /** Called by the engine. */
  retrieve(call: number, retriever: number, query: string, k: number): void {
    const ask = this.retrievers[retriever] as RetrieveFunction;
    this.#call(call, (under) => ask(query, contextOf(under, "k", k)));
  }

  /** Called by the engine. */
  recall(call: number, key: string): void {
    this.#call(call, () => this.store?.get?.(key));
  }

  /** Called by the engine. */
  remember(call: number, key: string, value: string): void {
    this.#call(call, () => this.store?.set?.(key, value));
  }

  /** Called by the engine. */
  fetch(call: number, request: Request): void {
    this.#wait(call, () => fetch(request));
  }

  /** Called by the engine. */
  read(call: number, reader: ReadableStreamDefaultReader<Uint8Array>): void {
    this.#wait(call, () => reader.read().then(({ value }) => value));
  }

  /** Called by the engine, whose run waits for another's and shall go on in its own asynchronous context. */
  hold(call: number): void {
    this.#wait(call, () => new Promise<void>((resolve) => this.#held.set(call, resolve)));
  }

  /** Called by the engine. */
  release(call: number): void {
    this.#held.get(call)?.();
    this.#held.delete(call);
  }

  /** Hands over what the platform gives; who no longer wants it aborts the request itself. */
  #wait(call: number, begin: () => Promise<unknown>): void {
    this.#calls.set(call, undefined);
    const failed = (error: unknown) => this.#settle(call, false, error);
    try {
      begin().then((value) => this.#settle(call, true, value), failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Called by the engine: nobody waits for that call any longer. */
  abort(call: number): void {
    const under = this.#calls.get(call);
    this.#calls.delete(call);
    this.#held.delete(call);
    under?.abort();
  }

  /** @param onText of a model: takes the pieces of a reply that comes in pieces */
  #call(number: number, work: (call: Call) => unknown, onText?: ChatContext["onText"]): void {
    const call = new Call();
    this.#calls.set(number, call);
    let given: unknown;
    try {
      given = work(call);
    } catch (error) {
      return this.#failed(number, error);
    }
    Promise.resolve(given).then(
      (value) => this.#given(number, value, onText),
      (error) => this.#failed(number, error),
    );
  }

  /** Most models give a text: to wait for it once more would take as long as all else about the call. */
  #given(call: number, value: unknown, onText: ChatContext["onText"] | undefined): void {
    if (onText !== undefined && typeof value !== "string") {
      const done = (reply: unknown) => this.#given(call, reply, undefined);
      whole(value as Exclude<Said, string>, onText).then(done, (error) => this.#failed(call, error));
      return;
    }
    if ("error" in this.thrown) delete this.thrown.error;
    this.#settle(call, true, value);
  }

  #failed(call: number, error: unknown): void {
    this.thrown.error = error;
    this.#settle(call, false, undefined);
  }
}

/** A call under way. */
class Call {
  #controller: AbortController | undefined;
  #aborted = false;

  signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}

/**
 * What a function gets besides its request. The signal is made for whoever looks at it, by a getter of the class: to
 * define one for each object takes longer than the signal, and V8 keeps what it closes over until a full collection.
 */
class Context {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal();
  }
}

/** With one more member; `Object.assign` would take as long as all else about a context. */
function contextOf<K extends string, V>(call: Call, name: K, value: V): Context & Record<K, V> {
  const context = new Context(call) as Context & Record<K, V>;
  context[name] = value as (typeof context)[K];
  return context;
}

type Said = Awaited<ReturnType<ChatFunction>>;

/** What a model's function gave besides a text: its pieces, or what is known of it. */
async function whole(said: Exclude<Said, string>, onText: ChatContext["onText"]): Promise<unknown> {
  if (Symbol.asyncIterator in said) {
    let text = "";
    for await (const piece of said) {
      text += piece;
      onText(piece);
    }
    return text;
  }
  const { text, finish, usage } = said;
  return { text, finish, inputTokens: counted(usage?.inputTokens), outputTokens: counted(usage?.outputTokens) };
}

/** A number of tokens, if it is one: what a library guesses or leaves out must not spoil the reply. */
function counted(tokens: unknown): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : undefined;
}

/** Schemas by their JSON: a few dozen, read once and the same object for every request, so nobody may change them. */
const schemas = new Map<string, ChatRequest["schema"]>();

function schemaOf(json: string): ChatRequest["schema"] {
  const known = schemas.get(json);
  if (known !== undefined) return known;
  const schema = frozen(JSON.parse(json)) as ChatRequest["schema"];
  schemas.set(json, schema);
  return schema;
}

function frozen(value: unknown): unknown {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
