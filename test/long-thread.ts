import { newId } from "../src/protocol/base/ids.ts";
import type { Query } from "../src/protocol/agents/tools.ts";

export type LongThread = {
  readonly owner: string;
  readonly title: string;
  /** Of people and of their agent by turns, so an even number. */
  readonly messages: number;
  readonly agent?: string;
  /** A thread of which nothing is said yet, as that of a new room; absent: a new one. */
  readonly into?: string;
};

/** What an agent says in it: as much, and as formatted, as models do. */
const answerSql = `'Answer ' || n || '. The **brown** fox jumps over the lazy dog, and \`explains\` at length why.' || E'\\n\\n'
  || E'- first, since it can\\n- then, since it *likes* to\\n- last, since nobody minds\\n\\n'
  || repeat('It goes on with this for a while, as foxes do. ', 6)
  || case when n % 5 = 0 then E'\\n\\n\`\`\`js\\nconst fox = jump(dog);\\nexport default fox;\\n\`\`\`' else '' end`;

/**
 * A thread that begins with so many messages, written as runs would have: question n (from 1), answer n, the run's end. Their ids
 * can be known: \`itemIdOf\`.
 */
export async function seedThread(query: Query, { owner, title, messages, agent, into }: LongThread): Promise<string> {
  const id = into ?? newId();
  const turns = messages / 2;
  await query(
    `insert into threads (id, user_id, title, agent, next_seq, leaf)
     values ($1, $2, $3, $4, $5::bigint * 3 + 1, case when $5::bigint = 0 then null else md5($1::uuid::text || $5::bigint * 3)::uuid end)
     on conflict (id) do update set next_seq = excluded.next_seq, leaf = excluded.leaf`,
    [id, owner, title, agent ?? "assistant", turns],
  );
  await query(
    `insert into items (thread_id, seq, id, user_id, parent_id, run_id, kind, step, attempt, author, body)
     select $1::uuid, s, md5($1::uuid::text || s)::uuid, $2, case when s > 1 then md5($1::uuid::text || s - 1)::uuid end, md5($1::uuid::text || 'run' || n)::uuid,
       case part when 2 then 'state' else 'message' end, case part when 1 then '1' end, case part when 1 then 1 end,
       case part when 0 then null else $4 end,
       case part
         when 0 then jsonb_build_object('role', 'user', 'content', 'Question ' || n || ': why does the fox jump?', 'to', $4::text)
         when 1 then jsonb_build_object('role', 'assistant', 'content', ${answerSql})
         else jsonb_build_object('type', 'run-end', 'status', 'done') end
     from (select s, (s + 2) / 3 as n, (s - 1) % 3 as part from generate_series(1::bigint, $3::bigint * 3) s) numbered`,
    [id, owner, turns, agent ?? "assistant"],
  );
  return id;
}

/** The item of question n, in SQL's words. */
export async function itemIdOf(query: Query, threadId: string, question: number): Promise<string> {
  const [row] = await query<{ id: string }>("select id from items where thread_id = $1 and seq = $2", [
    threadId,
    question * 3 - 2,
  ]);
  return row!.id;
}
