// A Worker that answers in place of this page: typed requests over HTTP, events as they are sent.

import { createParser } from "eventsource-parser";
import type { Answer, AskRequest, Event as RunEvent, Health, SearchHit, SearchRequest, Statistics } from "../generated/wire.ts";
import type { Cancellation } from "./cancellation.ts";
import type { CountercheckError } from "./error.ts";
import type { Kit } from "./kit.ts";
import type { Backend, Events } from "./types.ts";

/** No honest event comes near this; a server that never ends a line must not fill the page's memory. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

let kit: Kit;

/** The backend of the Worker whose `/v1/ask` is below `endpoint`; empty for the page's own origin. */
export function remoteBackend(endpoint: string | URL, shared: Kit): Backend {
  kit = shared;
  return new RemoteBackend(endpoint);
}

/** Answers come from a Worker. */
class RemoteBackend implements Backend {
  readonly #base: string;

  constructor(endpoint: string | URL) {
    this.#base = String(endpoint).replace(/\/+$/, "");
  }

  async ask(request: AskRequest, events: Events, { signal }: Cancellation): Promise<Answer> {
    const response = await this.#post("/v1/ask", request, "text/event-stream", signal);
    if (!isEventStream(response)) return kit.camelKeys<Answer>(await readJson(response));
    const outcome: { answer?: Answer; error?: CountercheckError } = {};
    await readEvents(response, signal, (name, data) => {
      if (name === "answer") outcome.answer = kit.camelKeys<Answer>(data);
      else if (name === "error") outcome.error = remoteError(data, response.status);
      else events.tell(kit.camelKeys<RunEvent>(data));
    });
    if (outcome.error !== undefined) throw outcome.error;
    if (outcome.answer === undefined)
      throw new kit.CountercheckError("unreachable", `${response.url} ended before the answer`);
    return outcome.answer;
  }

  async search(request: SearchRequest, { signal }: Cancellation): Promise<SearchHit[]> {
    const response = await this.#post("/v1/search", request, "application/json", signal);
    return kit.camelKeys<{ hits: SearchHit[] }>(await readJson(response)).hits;
  }

  async statistics(): Promise<Statistics> {
    const response = await send(`${this.#base}/healthz`, { headers: { accept: "application/json" } });
    const { documents, passages } = kit.camelKeys<Health>(await readJson(response));
    return { documents, passages };
  }

  add(): Promise<number> {
    return unsupported("add");
  }

  remove(): Promise<boolean> {
    return unsupported("remove");
  }

  save(): Promise<Uint8Array> {
    return unsupported("save");
  }

  dispose(): void {}

  #post(path: string, body: unknown, accept: string, signal: AbortSignal): Promise<Response> {
    const headers = { accept, "content-type": "application/json" };
    return send(this.#base + path, { method: "POST", headers, body: JSON.stringify(kit.snakeKeys(body)), signal });
  }
}

async function send(url: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, options);
  } catch (cause) {
    if (options.signal?.aborted) throw kit.abortError(options.signal);
    throw new kit.CountercheckError(
      "unreachable",
      `${url} cannot be reached: no connection, or the server does not allow this page`,
      { cause },
    );
  }
  if (response.ok) return response;
  throw remoteError(await response.json().catch(() => undefined), response.status, response.url);
}

/** Passes each event's name and data on. */
async function readEvents(
  response: Response,
  signal: AbortSignal,
  onEvent: (name: string, data: unknown) => void,
): Promise<void> {
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ event = "message", data }) => onEvent(event, parse(data, response.url)),
    onError: (cause) => {
      if (cause.type !== "max-buffer-size-exceeded") return;
      throw new kit.CountercheckError(
        "http_error",
        `${response.url} sent an event of more than ${MAX_EVENT_CHARACTERS} characters`,
        { cause },
      );
    },
  });
  const decoder = new TextDecoder();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      parser.feed(decoder.decode(chunk.value, { stream: true }));
    }
  } catch (cause) {
    reader.cancel().catch(() => {});
    if (signal.aborted) throw kit.abortError(signal);
    if (cause instanceof kit.CountercheckError) throw cause;
    throw new kit.CountercheckError("unreachable", `the connection to ${response.url} broke off`, { cause });
  }
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true;
}

async function readJson(response: Response): Promise<unknown> {
  return parse(await response.text(), response.url);
}

function parse(json: string, url: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new kit.CountercheckError("http_error", `${url} did not answer with JSON: it is no countercheck Worker`, {
      cause,
    });
  }
}

/** `{"error": {"code", "message"}}`, whichever part of it is there. */
function remoteError(body: unknown, status: number, url = "the server"): CountercheckError {
  const error = (body as { error?: unknown } | undefined)?.error ?? body;
  const { code, message, service_code, retry_after_ms } = (
    typeof error === "object" && error !== null ? error : {}
  ) as Record<string, unknown>;
  return new kit.CountercheckError(
    typeof code === "string" ? code : "http_error",
    typeof message === "string" ? kit.inCamelCase(message) : `${url} answered ${status}`,
    { serviceCode: service_code, retryAfterMs: retry_after_ms },
  );
}

function unsupported(what: string): Promise<never> {
  return Promise.reject(
    new kit.CountercheckError(
      "unsupported",
      `${what} changes the index of this page: create the assistant with an index, not an endpoint`,
    ),
  );
}
