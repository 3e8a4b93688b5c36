import { ColloquyError } from "../../protocol/base/errors.ts";
import { shownMessage } from "./shown-message.ts";

/** An error as Ollama tells it, also as a line of a stream. Reveals nothing of unexpected errors. */
export function ollamaError(error: unknown): { readonly error: string } {
  return {
    error: error instanceof ColloquyError ? shownMessage(error.message) : "Internal error; the server's log has more.",
  };
}
