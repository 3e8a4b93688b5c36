import { callKey } from "../log/fold.ts";
import type { CallItem } from "../log/call-items.ts";
import type { RunWork } from "../step/work.ts";
import { rememberForWrite } from "./ledger.ts";

/** How often what a command prints is written down while it works; one that ends sooner costs nothing. */
const everyMs = 1000;
/** Characters kept of the output's end, which shows how far the command came. */
const maxCharacters = 8000;

export type KeptOutput = {
  add(text: string): void;
  /** It ended by itself: its result has all of it. */
  end(): void;
  /** It was broken off: writes down what has come since. */
  broken(): Promise<void>;
  /** Returns the output so far. */
  text(): string;
};

/** Keeps what a command prints with its claim, so that whoever finds that it was broken off knows how far it came. */
export function keepOutput(work: RunWork, call: CallItem): KeptOutput {
  let printed = "";
  let isNew = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!isNew) return writing;
    isNew = false;
    const text = printed.toWellFormed();
    // Nothing is lost but the text if it can't be kept: the run goes on, or is lost and notices it by itself.
    writing = writing
      .then(() => rememberForWrite(work, call, { printed: text }))
      .catch((error: unknown) =>
        work.runtime.log.debug({ call: callKey(call), error: String(error) }, "printed text was not kept"),
      );
    return writing;
  };
  return {
    add(text) {
      printed = (printed + text).slice(-maxCharacters);
      isNew = true;
      timer ??= setTimeout(() => void write(), everyMs);
    },
    end: () => clearTimeout(timer),
    broken: () => write(),
    text: () => printed.toWellFormed(),
  };
}
