// How a call ends early: its caller's signal, or the end of its assistant. Unlike an AbortSignal it costs
// next to nothing as long as nobody asks for one.

/** Told once that a call's result is no longer wanted. */
export class Cancellation {
  /** Whether it was told. */
  aborted = false;
  #controller: AbortController | undefined;
  #listener: () => void = () => {};

  /** The same as a signal, for requests. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Has a function called when it is told; the last one counts. */
  onAbort(listener: () => void): void {
    this.#listener = listener;
  }

  /** Tells it. */
  abort(): void {
    this.aborted = true;
    this.#controller?.abort();
    this.#listener();
  }
}
