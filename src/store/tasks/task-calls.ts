import type { Query, ToolResult } from "../../protocol/agents/tools.ts";

/** One call of a task tool with a key. The hash is of the tool and its arguments. */
export type KeyedCall = { readonly userId: string; readonly key: string; readonly argumentsHash: string };

export type EarlierCall = { readonly argumentsHash: string; readonly result: ToolResult };

const keptDays = 30;
const removedAtOnce = 100;

/**
 * In the transaction of the call's own work: waits for another one that is doing the same call, and gives what it answered.
 * Undefined: nobody did it; `keepTaskCall` belongs to the same transaction. Old calls are forgotten on the way.
 */
export async function claimTaskCall(
  query: Query,
  { userId, key, argumentsHash }: KeyedCall,
): Promise<EarlierCall | undefined> {
  const claimed = await query(
    "insert into task_calls (user_id, key, arguments_hash) values ($1, $2, $3) on conflict do nothing returning 1",
    [userId, key, argumentsHash],
  );
  if (claimed.length === 0) {
    const [earlier] = await query<EarlierCall>(
      `select arguments_hash as "argumentsHash", result from task_calls where user_id = $1 and key = $2`,
      [userId, key],
    );
    return earlier;
  }
  await query(
    `delete from task_calls where (user_id, key) in (
       select user_id, key from task_calls where created_at < now() - make_interval(days => $1)
       order by created_at limit $2 for update skip locked)`,
    [keptDays, removedAtOnce],
  );
  return undefined;
}

/** A call that failed is forgotten: it changed nothing, and may be tried again. */
export async function keepTaskCall(
  query: Query,
  { userId, key }: Pick<KeyedCall, "userId" | "key">,
  result: ToolResult,
): Promise<void> {
  if (result.isError) await query("delete from task_calls where user_id = $1 and key = $2", [userId, key]);
  else
    await query("update task_calls set result = $3::jsonb where user_id = $1 and key = $2", [
      userId,
      key,
      JSON.stringify(result),
    ]);
}
