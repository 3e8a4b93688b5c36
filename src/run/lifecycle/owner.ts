import { type Caller, intersectRights, type Rights } from "../../protocol/base/callers.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Who began a run, with what is left of their rights today. Throws Conflict if the account is disabled. */
export async function currentOwner(query: Query, caller: Caller): Promise<Caller> {
  const [user] = await query<Rights & { name: string; disabled: boolean }>(
    "select name, role, disabled, permissions_of(id, role) as permissions from users where id = $1",
    [caller.userId],
  );
  if (!user) throw new NotFound(`User ${caller.userId} not found.`);
  if (user.disabled) throw new Conflict(`The account of ${user.name} is disabled.`, { code: "account_disabled" });
  return { ...intersectRights(caller, user), name: user.name };
}
