import type { MessageBody } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { liveRootSql } from "../lifecycle/accept.ts";
import { definitionSql } from "../log/run-definitions.ts";

/** Begun so often, nothing more is tried: the second time since a process died over the first. */
const maxTries = 2;
/** After this long whoever asked is dead. */
const deadMinutes = 5;
/** Who has waited so long is content with the first words. */
const maxAgeHours = 24;
const batch = 20;

/** SQL conditions on a thread: nobody is at its title; nobody is to try again; it has an answer. */
const isUntaken = `(title_asked_at is null or title_asked_at < now() - interval '${deadMinutes} minutes')`;
const isOver = `(title_tries >= ${maxTries} or created_at < now() - interval '${maxAgeHours} hours')`;
const isAnswered = `exists (select from runs r where r.thread_id = threads.id and r.parent_run is null and r.status = 'done')`;

/** Some conversations that wait for a title, in any order, so that none is always behind others. `over`: they get none. */
export function dueTitles(query: Query): Promise<readonly { readonly id: string; readonly over: boolean }[]> {
  return query<{ id: string; over: boolean }>(
    `select id, ${isOver} as over from threads where title_tries is not null and not temporary and ${isUntaken} and (${isOver} or ${isAnswered})
     order by random() limit $1`,
    [batch],
  );
}

export type FirstAnswer = {
  /** The name of the model that was to answer. */
  readonly model: string;
  readonly messages: readonly { readonly step: string | null; readonly body: MessageBody }[];
};

/** How the conversation began, if it wants a title, has an answer and rests. */
export async function firstAnswer(query: Query, threadId: string): Promise<FirstAnswer | undefined> {
  const [run] = await query<{ id: string; model: string | null }>(
    `select r.id, ${definitionSql("r")} #>> '{agent,model}' as model from threads join runs r on r.thread_id = threads.id
     where threads.id = $1 and title_tries < ${maxTries} and not temporary and ${isUntaken} and threads.pending = 0
       and r.parent_run is null and r.status = 'done' and not exists (${liveRootSql("$1")}) order by r.id limit 1`,
    [threadId],
  );
  if (!run) return undefined;
  const messages = await query<FirstAnswer["messages"][number]>(
    `select step, body from items where run_id = $1 and kind = 'message' and not body ? 'erased' order by seq`,
    [run.id],
  );
  return { model: run.model ?? "", messages };
}

export type TitleClaim = { readonly userId: string; readonly askedAt: Date };

/** Counts before anybody is asked. Undefined: somebody else is at it, or there is nothing to do any more. */
export async function claimTitle(query: Query, threadId: string): Promise<TitleClaim | undefined> {
  const [row] = await query<{ user_id: string; title_asked_at: Date }>(
    `update threads set title_tries = title_tries + 1, title_asked_at = date_trunc('milliseconds', clock_timestamp())
     where id = $1 and title_tries < ${maxTries} and ${isUntaken} returning user_id, title_asked_at`,
    [threadId],
  );
  return row && { userId: row.user_id, askedAt: row.title_asked_at };
}

/** SQL condition: it is still this claim; a person who names the conversation ends it. */
const isClaim = "title_tries is not null and title_asked_at = $2::timestamptz";

/** Nothing was wrong: it does not count. */
export async function giveBackTitle(query: Query, threadId: string, { askedAt }: TitleClaim): Promise<void> {
  await query(`update threads set title_tries = title_tries - 1, title_asked_at = null where id = $1 and ${isClaim}`, [
    threadId,
    askedAt,
  ]);
}

/** Undefined: the first words stay. Says whether the title was changed. */
export async function writeTitle(
  query: Query,
  threadId: string,
  { askedAt, title }: TitleClaim & { readonly title: string | undefined },
): Promise<boolean> {
  const rows = await query(
    `update threads set title = coalesce($3::text, title), title_tries = null, title_asked_at = null where id = $1 and ${isClaim} returning 1`,
    [threadId, askedAt, title ?? null],
  );
  return rows.length > 0 && title !== undefined;
}

/** The first words stay. */
export async function leaveTitle(query: Query, threadId: string): Promise<void> {
  await query("update threads set title_tries = null, title_asked_at = null where id = $1", [threadId]);
}

/** Names of the models of all runs that are at work, queued, or waiting for their provider; of rooms those of their members too. */
export async function modelsOfLiveRuns(query: Query): Promise<readonly string[]> {
  const rows = await query<{ model: string | null }>(
    `with live as (select distinct user_id, definition_hash from runs
       where status in ('queued', 'running', 'waiting') and (status <> 'waiting' or wait_reason = 'provider')),
     bodies as (select body from run_definitions d join live on live.user_id = d.user_id and live.definition_hash = d.hash)
     select body #>> '{agent,model}' as model from bodies
     union select jsonb_path_query(body, '$.agent.room.members[*].agent.model') #>> '{}' from bodies`,
  );
  return rows.flatMap(({ model }) => model ?? []);
}
