import { createHash } from "node:crypto";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";

/**
 * What runs keep from their start, once for all runs of a person that began with the same. Rows are removed when no run names
 * them any more and a day has passed since one last did: see `keptMs` below.
 */
export type NamedDefinition = { readonly hash: string; readonly text: string };

export function named(definition: RunDefinition): NamedDefinition {
  const text = jsonText(definition);
  return { hash: createHash("sha256").update(text).digest("hex"), text };
}

/** SQL: the definition of a run of the table or alias. */
export function definitionSql(runs: string): string {
  return `(select d.body from run_definitions d where d.user_id = ${runs}.user_id and d.hash = ${runs}.definition_hash)`;
}

/** SQL that keeps a definition, given as SQL values, for the people that a query returns as `user_id`. */
export function keepDefinitionSql(
  from: string,
  { hash, body }: { readonly hash: string; readonly body: string },
): string {
  return `insert into run_definitions (user_id, hash, body) select distinct user_id, ${hash}, ${body} from ${from} on conflict (user_id, hash)
    do update set used_at = now() where run_definitions.used_at < now() - interval '1 hour'`;
}

/** Far less than a day, after which one that no run names is removed. */
const keptMs = 3_600_000;
const mostKnown = 5000;

/** Which definitions are known to be kept, so that their text need not be sent again: by user and hash. */
export type KnownDefinitions = {
  has(userId: string, hash: string): boolean;
  /** It is committed. */
  add(userId: string, hash: string): void;
};

export function createKnownDefinitions(): KnownDefinitions {
  // By the clock on the wall: the other one stands still while a machine sleeps.
  const known = new Map<string, number>();
  return {
    has(userId, hash) {
      const at = known.get(`${userId} ${hash}`);
      const age = Date.now() - (at ?? 0);
      return at !== undefined && age >= 0 && age < keptMs;
    },
    add(userId, hash) {
      if (known.size >= mostKnown) known.clear();
      known.set(`${userId} ${hash}`, Date.now());
    },
  };
}
