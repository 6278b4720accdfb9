// The errors callers see: one class with a stable code, and the platform's AbortError for cancellation.

/**
 * Anything that went wrong, with a code for programs and a message for people.
 *
 * Codes of the core come through unchanged (`empty_question`, `unknown_field`, `invalid_option`,
 * `too_large`, `provider_failed`, …); the client adds `disposed`, `panicked`, `unsupported`,
 * `unreachable` (no connection), `http_error` and `load_failed`.
 */
export class CountercheckError extends Error {
  /** Stable, for programs. */
  readonly code: string;
  /** What went wrong at the service that failed, for instance `rate_limited` or `unauthorized`. */
  readonly serviceCode?: string;
  /** When it may be tried again, in milliseconds, if the service said so. */
  readonly retryAfterMs?: number;

  constructor(code: string, message: string, options: ErrorOptions & ServiceDetail = {}) {
    const { serviceCode, retryAfterMs, ...rest } = options;
    super(message, rest);
    this.name = "CountercheckError";
    this.code = code;
    if (typeof serviceCode === "string") this.serviceCode = serviceCode;
    if (typeof retryAfterMs === "number") this.retryAfterMs = retryAfterMs;
  }
}

/** What is known of a service that failed. */
export interface ServiceDetail {
  serviceCode?: unknown;
  retryAfterMs?: unknown;
}

/** What a cancelled call rejects with: the signal's own reason where that is a DOMException. */
export function abortError(signal?: AbortSignal): DOMException {
  const reason: unknown = signal?.reason;
  return reason instanceof DOMException ? reason : new DOMException("the call was cancelled", "AbortError");
}

/** Whether a value is what the platform throws for a cancelled call. */
export function isAbortError(error: unknown): boolean {
  return error instanceof DOMException && (error.name === "AbortError" || error.name === "TimeoutError");
}

/** Whether WebAssembly stopped dead: a panic, or memory that ran out. Its instance is unusable. */
export function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError;
}

/** The error of a call into wasm as callers see it. */
export function fromEngine(thrown: unknown): Error {
  if (isTrap(thrown)) return panicked(thrown);
  if (!(thrown instanceof Error)) return new CountercheckError("internal", String(thrown));
  const code: unknown = (thrown as { code?: unknown }).code;
  if (code === "aborted") return abortError();
  return typeof code === "string"
    ? new CountercheckError(code, inCamelCase(thrown.message), { cause: thrown, ...serviceDetail(thrown as Error & ServiceDetail) })
    : thrown;
}

function serviceDetail({ serviceCode, retryAfterMs }: ServiceDetail): ServiceDetail {
  return { serviceCode, retryAfterMs };
}

/** The error of what was under way when the engine stopped. */
export function panicked(cause: unknown): CountercheckError {
  return new CountercheckError("panicked", "the engine stopped unexpectedly; the next call starts it again", { cause });
}

/** Messages name fields as JSON has them: `max_retries` is `maxRetries` to JavaScript. Quoted values stay. */
export function inCamelCase(message: string): string {
  const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return message.replace(/(?<!")\b[a-z]+(?:_[a-z]+)+\b(?!")/g, toCamel);
}
