// An answer on its way: a promise that can also be iterated over.

import type { Answer } from "./usage.ts";
import type { AnswerEvent, Answering, Events } from "./types.ts";

/**
 * Starts a run and gives what can be awaited and iterated over.
 *
 * @param run gets who takes its events; an event after its end is dropped
 * @param onEvent a listener; what it throws is reported as if an event handler had thrown
 */
export function startAnswering(
  run: (events: Events) => Promise<Answer>,
  onEvent?: (event: AnswerEvent) => void,
): Answering {
  const events: AnswerEvent[] = [];
  let ended = false;
  let wanted = onEvent !== undefined;
  let wake = () => {};
  // Made once somebody waits for it: most runs have nobody who does.
  let changed: Promise<void> | undefined;
  const notify = () => {
    changed = undefined;
    wake();
  };
  const emit = (event: AnswerEvent) => {
    if (ended) return;
    events.push(event);
    try {
      onEvent?.(event);
    } catch (error) {
      report(error);
    }
    notify();
  };

  const settle = () => {
    ended = true;
    notify();
  };
  const answer = run({ wanted: () => wanted, tell: emit }).then(
    (found) => {
      // What nobody wanted was not told; whoever iterates later still begins with the first event.
      if (events.length === 0) for (const event of found.trace) emit(event);
      emit({ type: "answer", answer: found });
      settle();
      return found;
    },
    (error: unknown) => {
      settle();
      throw error;
    },
  );

  async function* iterate(): AsyncGenerator<AnswerEvent, void, undefined> {
    // Whoever iterates gets the failure from here; the promise need not be awaited as well.
    answer.catch(() => {});
    wanted = true;
    for (let next = 0; ;) {
      const event = events[next];
      if (event !== undefined) {
        next += 1;
        yield event;
      } else if (ended) {
        await answer;
        return;
      } else {
        await (changed ??= new Promise<void>((resolve) => (wake = resolve)));
      }
    }
  }

  return Object.assign(answer, { [Symbol.asyncIterator]: iterate });
}

/** Reports an error of a listener without ending the run, as the platform does for event handlers. */
function report(error: unknown): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}
