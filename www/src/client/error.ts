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

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CountercheckError";
    this.code = code;
  }
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
export function fromEngine(thrown: unknown, signal?: AbortSignal): Error {
  if (isTrap(thrown)) return panicked(thrown);
  if (!(thrown instanceof Error)) return new CountercheckError("internal", String(thrown));
  const code: unknown = (thrown as { code?: unknown }).code;
  if (code === "aborted") return abortError(signal);
  return typeof code === "string"
    ? new CountercheckError(code, inCamelCase(thrown.message), { cause: thrown })
    : thrown;
}

/** The error of what was under way when the engine stopped. */
export function panicked(cause: unknown): CountercheckError {
  return new CountercheckError("panicked", "the engine stopped unexpectedly; the next call starts it again", { cause });
}

/** Messages name fields as JSON has them: `max_retries` is `maxRetries` to JavaScript. Quoted values stay. */
function inCamelCase(message: string): string {
  const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return message.replace(/(?<!")\b[a-z]+(?:_[a-z]+)+\b(?!")/g, toCamel);
}
