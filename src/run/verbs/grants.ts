import type { GrantView } from "../../protocol/threads/run-shapes.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { Database } from "../../store/driver/database.ts";
import type { Grant } from "../turn/approval.ts";

/** Newest first. */
export async function listGrants(database: Database, caller: Caller): Promise<GrantView[]> {
  const rows = await database.query<{ id: string; tool: string; pattern: Grant; created_at: Date }>(
    "select id, tool, pattern, created_at from grants where user_id = $1 order by id desc limit 500",
    [caller.userId],
  );
  return rows.map(({ id, tool, pattern, created_at: createdAt }) => ({
    id,
    tool,
    ...("exact" in pattern ? { argumentsHash: pattern.exact } : { pattern: pattern.fits }),
    createdAt: createdAt.toISOString(),
  }));
}

export async function removeGrant(database: Database, caller: Caller, id: string): Promise<void> {
  const rows = isId(id)
    ? await database.query("delete from grants where id = $1 and user_id = $2 returning 1", [id, caller.userId])
    : [];
  if (rows.length === 0) throw new NotFound(`Grant ${id} not found.`, { code: "grant_not_found" });
}
