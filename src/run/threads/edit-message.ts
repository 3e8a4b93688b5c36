import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { type MessageContent, type ItemOf, type MessageBody, textOf } from "../../protocol/threads/items.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { endOfBranch, lockIdle, mustBeNoRoom } from "./branches.ts";
import { isErased } from "../log/fold.ts";
import { editedAnswer } from "./edited-answer.ts";
import { copiesOf, maxCopied, stubsOf } from "./fork.ts";
import {
  insertItemsSql,
  itemColumns,
  type ItemRow,
  itemsParameter,
  threadColumns,
  type ThreadRow,
  toItem,
  toThread,
} from "../log/rows.ts";
import type { EditResult, Threads } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";

/**
 * Other words for a message of the person's, or for an agent's answer, without asking anybody anew: a branch beside it with the
 * new words and copies of what came after. Nothing is overwritten, and nothing that was done is done again.
 */
export async function editMessage(
  runtime: Runtime,
  caller: Caller,
  { threadId, message: { id = newId(), content }, instead }: Parameters<Threads["editMessage"]>[1],
): Promise<EditResult> {
  if (isBlank(content)) throw new InvalidInput("An edited message can't be empty.", { param: "message.content" });
  const edited = await runtime.database.transaction(async (query) => {
    const thread = await lockIdle(query, caller, threadId);
    await mustBeNoRoom(query, threadId);
    const first = await messageOf(query, caller, { threadId, id: instead });
    if (await isDone(query, caller, { threadId, id, first })) return thread;
    const body = await editedBody(query, caller, { original: first, content });
    const later = await laterItems(query, thread, first.id);
    const copies = copiesOf(later, { firstSeq: thread.next_seq + 1, parent: id, steps: `edit:${thread.next_seq}` });
    const leaf = copies.at(-1)?.id ?? id;
    const [changed] = await query<ThreadRow>(
      `with t as (update threads set next_seq = next_seq + $2, leaf = $3, updated_at = now() where id = $1
         returning ${threadColumns}, $4::bigint as first, $5::uuid as parent),
       i as (${insertItemsSql("$6", "$7")}) select * from t`,
      [
        threadId,
        copies.length + 1,
        leaf,
        thread.next_seq,
        first.parentId,
        itemsParameter([{ id, kind: "message", author: first.author ?? caller.name, body, run: null }]),
        new Date().toISOString(),
      ],
    );
    await query(
      `insert into items (thread_id, seq, id, user_id, parent_id, kind, step, call_index, author, body)
       select $1, x.seq, x.id, i.user_id, x.parent, i.kind, x.step, i.call_index, i.author, i.body - 'again' - 'seen'
       from jsonb_to_recordset($2::jsonb) as x (source uuid, id uuid, seq bigint, parent uuid, step text)
       join items i on i.id = x.source order by x.seq`,
      [threadId, jsonText(copies)],
    );
    return changed!;
  });
  // Whoever follows reads the copies a page at a time: all at once may be more than there is memory for.
  runtime.feeds.changed([threadId]);
  runtime.deltas.touch(threadId);
  return { messageId: id, thread: toThread(edited) };
}

async function editedBody(
  query: Query,
  caller: Caller,
  edit: { readonly original: ItemOf<"message">; readonly content: MessageContent },
): Promise<MessageBody> {
  const { again: _again, ...rest } = edit.original.body;
  return rest.role === "assistant" ? editedAnswer(query, caller, edit) : { ...rest, content: edit.content };
}

/** The message came before: it stands beside the other, or in its place, with an id that nobody else gave. */
async function isDone(
  query: Query,
  { userId }: Caller,
  { threadId, id, first }: { readonly threadId: string; readonly id: string; readonly first: ItemOf<"message"> },
): Promise<boolean> {
  const [known] = await query<{ done: boolean }>(
    `select thread_id = $2 and kind = 'message' and run_id is null and user_id = $3 and parent_id is not distinct from $4 as done
     from items where id = $1`,
    [id, threadId, userId, first.parentId],
  );
  if (known && !known.done) throw new InvalidInput(`The id ${id} is taken.`, { status: 422, param: "message.id" });
  return known !== undefined;
}

async function messageOf(
  query: Query,
  { userId }: Caller,
  { threadId, id }: { readonly threadId: string; readonly id: string },
): Promise<ItemOf<"message">> {
  const [row] = isId(id)
    ? await query<ItemRow>(`select ${itemColumns} from items where thread_id = $1 and id = $2 and user_id = $3`, [
        threadId,
        id,
        userId,
      ])
    : [];
  const item = row && toItem(row);
  if (item?.kind !== "message" || isErased(item) || item.body.role === "system")
    throw new NotFound(`The thread has no message ${id} of yours.`, { param: "instead" });
  return item;
}

/** Finds items after the message, or a copy of it, on its branch: the shown one, or its newest. Summaries count, since they contain earlier words. */
async function laterItems(query: Query, { id: threadId, leaf }: ThreadRow, messageId: string) {
  const shown = await stubsOf(query, threadId, leaf);
  const copies = await query<{ id: string }>(
    "select id from items where thread_id = $1 and kind = 'message' and body ->> 'again' = $2",
    [threadId, messageId],
  );
  const same = new Set([messageId, ...copies.map(({ id }) => id)]);
  const at = shown.findIndex(({ id }) => same.has(id));
  const branch =
    at === -1 ? await stubsOf(query, threadId, (await endOfBranch(query, threadId, messageId)) ?? null) : shown;
  const later = branch.slice(branch.findIndex(({ id }) => same.has(id)) + 1);
  if (later.length > maxCopied)
    throw new Conflict(`More than ${maxCopied} items come after the message.`, { code: "too_long" });
  return later.filter(({ kind }) => kind !== "summary");
}

function isBlank(content: MessageContent): boolean {
  return textOf(content).trim() === "" && (typeof content === "string" || content.every(({ type }) => type === "text"));
}
