import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { NewItem, NoticeValues } from "../../protocol/threads/items.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import { keepDefinitionSql, named } from "../log/run-definitions.ts";
import type { TakenRun } from "../contract/taken-run.ts";
import { defineRun } from "./define-run.ts";
import type { RunWork } from "../step/work.ts";
import { commit } from "../step/commit.ts";

const awaitedCode = "tools_awaited";

/**
 * Waits for servers that had not listed their tools when the run started, and stores the lists as if the run had started then.
 * Resolves to the run as it is from now on; undefined: it waits for none.
 */
export async function awaitTools(work: RunWork): Promise<TakenRun | undefined> {
  const { taken, runtime, signal } = work;
  const { awaited, ...before } = taken.definition;
  if (!awaited) return undefined;
  const waits = runtime.tools.awaited(before.agent.tools, taken.caller);
  const isTold = work.items.some(({ kind, body }) => kind === "notice" && "code" in body && body.code === awaitedCode);
  if (waits.length > 0 && !isTold)
    await commit(work, [notice(awaitedCode, `Waiting for ${serversText(waits)} …`, { servers: waits })]);
  const missing = await runtime.tools.wait(awaited, taken.caller, { signal, tell: () => {} });
  signal.throwIfAborted();
  const definition = withTools(work, before);
  const { hash, text } = named(definition);
  const rows = await runtime.database.query(
    `with r as (update runs set definition_hash = $3 where id = $1 and epoch = $2 and status = 'running' returning user_id),
       d as (${keepDefinitionSql("r", { hash: "$3::text", body: "$4::jsonb" })})
     select 1 from r`,
    [work.owner.runId, work.owner.epoch, hash, text],
  );
  if (rows.length === 0) throw new LostRun(work.owner.runId);
  for (const [server, reason] of missing) {
    const text = `${reason} This run continues without its tools.`;
    await commit(work, [notice("tools_missing", text, { server, reason })]);
  }
  return { ...taken, definition };
}

/** Returns the definition with the tools that exist now. */
function withTools({ runtime, taken }: RunWork, before: RunDefinition): RunDefinition {
  const { agent, options, limits, path, toolsOff } = before;
  const narrowed = toolsOff ? { toolsOff } : {};
  const within = path ? { within: { limits, path, ...narrowed } } : narrowed;
  const now = defineRun(runtime, taken.caller, { agent, options, ...within });
  const { deferred: _, ...rest } = before;
  return {
    ...rest,
    tools: now.tools,
    ...(now.deferred ? { deferred: now.deferred } : {}),
    ...(now.team ? { team: now.team } : {}),
  };
}

function serversText(names: readonly string[]): string {
  return names.length === 1 ? `the MCP server ${names[0]}` : `the MCP servers ${names.join(", ")}`;
}

function notice(code: string, text: string, values: NoticeValues): NewItem {
  return { id: newId(), kind: "notice", body: { code, text, values } };
}
