// One question at a time: runs it, shows it in a card, and says where it stands to those who do not see.

import type { Answer, AnswerEvent, AskDefaults, Assistant, SearchHit } from "../client/index.ts";
import { AnswerCard } from "./answer-card.ts";
import { whenAborted } from "./assistants.ts";
import type { Where } from "./assistants.ts";
import { plainText } from "./markdown.ts";
import type { Messages } from "./messages.ts";
import { bestOfSections } from "./results.ts";
import { announce, showRunning } from "./view.ts";
import type { View } from "./view.ts";

const SHOWN_CLOSEST = 3;
/** Several passages may be of one section. */
const SEARCHED_CLOSEST = 9;

/** What `countercheck-answer` tells. */
export interface AnswerDetail {
  question: string;
  answer: Answer;
  where: Where;
  milliseconds: number;
}

/** What a question needs of the element. */
export interface AskHost {
  view: View;
  messages: Messages;
  where: () => Where;
  defaults: () => AskDefaults;
  assistant: (where: Where) => Promise<Assistant>;
  /** An answer has come. */
  answered: (detail: AnswerDetail) => void;
  /** Something happened on the way to one; at the end of a run, whatever came of it, nothing. */
  step: (event: AnswerEvent | undefined) => void;
  /** There is none to this question. */
  failed: (error: unknown, question: string) => void;
}

/** Asks questions; a new one ends the one before. */
export class Asking {
  readonly #host: AskHost;
  #running: AbortController | undefined;

  constructor(host: AskHost) {
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Ends the run that is under way, if there is one. */
  stop(): void {
    this.#running?.abort();
  }

  /** Undefined if the run was stopped or failed. */
  async ask(question: string): Promise<Answer | undefined> {
    this.stop();
    const { view, messages, failed } = this.#host;
    const run = new AbortController();
    this.#running = run;
    showRunning(view, true, messages);
    const card = new AnswerCard(question, messages);
    view.log.replaceChildren(card.element);
    announce(view, messages.searching);
    try {
      return await this.#run(question, card, run.signal);
    } catch (error) {
      if (run.signal.aborted) {
        card.giveUp(messages.stopped);
        if (this.#running === run) announce(view, messages.announceStopped);
      } else {
        card.element.remove();
        failed(error, question);
      }
      return undefined;
    } finally {
      if (this.#running === run) {
        this.#running = undefined;
        showRunning(view, false, messages);
        this.#host.step(undefined);
      }
    }
  }

  async #run(question: string, card: AnswerCard, signal: AbortSignal): Promise<Answer> {
    const { view, messages, answered, defaults } = this.#host;
    const where = this.#host.where();
    const assistant = await Promise.race([this.#host.assistant(where), whenAborted(signal)]);
    const started = performance.now();
    const onEvent = (event: AnswerEvent) => {
      if (signal.aborted) return;
      card.show(event);
      this.#announceStep(event);
      this.#host.step(event);
    };
    const answer = await assistant.ask(question, { ...defaults(), signal, onEvent });
    const milliseconds = performance.now() - started;
    card.finish(answer, where === "page" ? messages.inPage : messages.atEdge, milliseconds);
    announce(view, messages.announceAnswer(plainText(answer.text).replace(/\s*\[\d+\]/g, "")));
    answered({ question, answer, where, milliseconds });
    if (answer.outcome === "abstained") {
      const suggest = (hits: SearchHit[]) => card.suggest(bestOfSections(hits, SHOWN_CLOSEST), question);
      assistant.search(question, SEARCHED_CLOSEST).then(suggest, () => {});
    }
    return answer;
  }

  /** What begins and what was withdrawn, never each word on its way. */
  #announceStep(event: AnswerEvent): void {
    const { view, messages } = this.#host;
    if (event.type === "draft-start" && event.attempt === 1) announce(view, messages.drafting);
    else if (event.type === "draft-reject") announce(view, messages.rejected(event.attempt, event.check));
  }
}
