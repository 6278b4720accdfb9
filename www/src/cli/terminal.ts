// What the terminal gets: colours where there are any, progress, numbers, and no foreign control codes.

const REPORT_EVERY_MS = 5_000;
const BAR_WIDTH = 30;

/** Whether escape sequences may go to a stream. */
function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env["NO_COLOR"];
}

/** Emphasised on a terminal, plain elsewhere. */
export function bold(text: string): string {
  return hasColours(process.stdout) ? `\x1b[1m${text}\x1b[22m` : text;
}

/** Subdued on a terminal, plain elsewhere. */
export function dim(text: string): string {
  return hasColours(process.stdout) ? `\x1b[2m${text}\x1b[22m` : text;
}

/** Text of documents without control characters: it must not drive the terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** Breaks lines at words and indents them; code stays as it is. */
export function indented(text: string, indent: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : indent + line))
    .join("\n");
}

/** Bytes for people. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A bar that is rewritten on a terminal; elsewhere a line now and then. */
export class Progress {
  readonly #stream = process.stderr;
  readonly #total: number;
  readonly #noun: string;
  #printed = Date.now();

  constructor(total: number, noun: string) {
    this.#total = total;
    this.#noun = noun;
  }

  /** Shows how much is done. */
  show(done: number): void {
    if (this.#stream.isTTY) {
      const filled = Math.round((BAR_WIDTH * done) / this.#total);
      this.#stream.write(
        `\r[${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}] ${done} of ${this.#total} ${this.#noun}\x1b[K`,
      );
    } else if (Date.now() - this.#printed >= REPORT_EVERY_MS) {
      this.#printed = Date.now();
      this.#stream.write(`${done} of ${this.#total} ${this.#noun}\n`);
    }
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\x1b[K");
  }
}
