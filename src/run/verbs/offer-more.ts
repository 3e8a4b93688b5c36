import type { Query } from "../../protocol/agents/tools.ts";
import type { ToolSchema } from "../../protocol/agents/models.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import type { LockedRun } from "../lifecycle/locked-run.ts";
import { keepDefinitionSql, named } from "../log/run-definitions.ts";

/** From now on the run's model is shown these tools of its client too. In a transaction that has locked the run. */
export async function offerMore(query: Query, run: LockedRun, tools: readonly ToolSchema[]): Promise<void> {
  const definition = withClientTools(run.definition, tools);
  if (!definition) return;
  const { hash, text } = named(definition);
  await query(
    `with r as (update runs set definition_hash = $2 where id = $1 returning user_id),
       d as (${keepDefinitionSql("r", { hash: "$2::text", body: "$3::jsonb" })})
     select 1 from r`,
    [run.id, hash, text],
  );
}

/** A client's tool stands in place of the server's of that name. Undefined: it has them all. */
function withClientTools(definition: RunDefinition, tools: readonly ToolSchema[]): RunDefinition | undefined {
  const { options, deferred } = definition;
  const { clientTools = [] } = options;
  const known = new Set(clientTools.map(({ name }) => name));
  const more = tools.filter(({ name }) => !known.has(name));
  if (more.length === 0) return undefined;
  const names = new Set(more.map(({ name }) => name));
  return {
    ...definition,
    options: { ...options, clientTools: [...clientTools, ...more] },
    tools: definition.tools.filter(({ name }) => !names.has(name)),
    ...(deferred && { deferred: deferred.filter((name) => !names.has(name)) }),
  };
}
