import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { newId } from "../../src/protocol/base/ids.ts";

/** One message on its way, and the ids under which the server knows it and its conversation. */
export type Attempt = { readonly message: string; readonly threadId: string; readonly messageId: string };

let lost: Attempt | undefined;

/** The same message sent again, because its answer was lost, goes out under the same ids: what did arrive is not done twice. */
export function attemptOf(message: string, threadId: string | undefined): Attempt {
  if (lost?.message === message) return lost;
  return { message, threadId: threadId ?? newId(), messageId: newId() };
}

/** Undefined: every answer came. */
export function answerLost(attempt: Attempt | undefined): void {
  lost = attempt;
}

/** What could not be sent may have arrived all the same: its id is that of an item. */
export function hasArrived(ids: Iterable<{ readonly id: string }>): boolean {
  if (!lost) return false;
  for (const { id } of ids) if (id === lost.messageId) return true;
  return false;
}

/** Whether the server may have done what it was asked although no answer says so. */
export function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof ColloquyError) || error.status >= 500;
}
