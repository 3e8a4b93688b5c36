import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { type ItemOf, type MessageBody, type MessageContent, textOf } from "../../protocol/threads/items.ts";
import { isNested } from "../log/fold.ts";

/**
 * An answer in a person's words. What belongs to the model's own text goes: its thoughts, what it used, and how it ended. Throws
 * Conflict for an answer with calls: their results would follow words that did not ask for them.
 */
export async function editedAnswer(
  query: Query,
  caller: Caller,
  { original, content }: { readonly original: ItemOf<"message">; readonly content: MessageContent },
): Promise<MessageBody> {
  if (typeof content !== "string" && content.some(({ type }) => type !== "text"))
    throw new InvalidInput("An answer is text: it can't contain pictures.", { param: "message.content" });
  if (await hasCalls(query, original))
    throw new Conflict("This message called tools, so its words stay as they are. Edit the answer that came after.", {
      code: "message_has_calls",
    });
  const { model, seen, citations = [], edited } = original.body;
  const text = textOf(content);
  const kept = keptCitations(textOf(original.body.content), text, citations);
  return {
    role: "assistant",
    content: text,
    ...(model === undefined ? {} : { model }),
    ...(seen === undefined ? {} : { seen }),
    ...(kept.length > 0 ? { citations: kept } : {}),
    edited: { by: caller.name, at: new Date().toISOString(), of: edited?.of ?? original.id },
  };
}

async function hasCalls(query: Query, original: ItemOf<"message">): Promise<boolean> {
  if (isNested(original)) return true;
  const { threadId, runId, step } = original;
  if (step === null) return false;
  const calls = await query(
    "select 1 from items where thread_id = $1 and run_id is not distinct from $2 and step = $3 and kind = 'call' limit 1",
    [threadId, runId, step],
  );
  return calls.length > 0;
}

type Citations = NonNullable<MessageBody["citations"]>;

/** What stands in the unchanged beginning or end, the quotation before it too, is cited as it was; the rest was not checked. */
function keptCitations(before: string, after: string, citations: Citations): Citations {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const [tailFrom, shift] = [before.length - tail, after.length - before.length];
  return citations.flatMap((citation) => {
    const { start, end, quote } = citation;
    if (end <= head) return citation;
    const from = quote === undefined ? start : before.lastIndexOf(quote, start);
    return from >= tailFrom ? { ...citation, start: start + shift, end: end + shift } : [];
  });
}
