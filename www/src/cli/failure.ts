// How commands end: an expected failure is one sentence and an exit code.

/** Exit codes of the commands. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  abstained: 3,
} as const;

/** Ends a command with a sentence for the person who ran it. */
export class Failure extends Error {
  /** The exit code. */
  readonly code: number;

  constructor(message: string, options: ErrorOptions & { code?: number } = {}) {
    super(message, options);
    this.code = options.code ?? EXIT.failed;
  }
}

/** Ends a command that was called in a way it does not understand. */
export function misuse(message: string): Failure {
  return new Failure(`${message}; see countercheck --help`, { code: EXIT.usage });
}
