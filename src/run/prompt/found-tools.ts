import type { Item } from "../../protocol/threads/items.ts";
import type { ToolSchema } from "../../protocol/agents/models.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import { foundTools, searchName } from "../../tools/core/search-tools.ts";
import { isErased } from "../log/fold.ts";

/** That are offered at once: the last ones. */
const mostFound = 40;

/** What searches among these items found of the tools that the run is not offered by itself. */
export function foundIn({ deferred }: RunDefinition, items: readonly Item[]): readonly ToolSchema[] {
  return deferred ? foundAmong(new Set(deferred), items) : [];
}

export function foundAmong(names: ReadonlySet<string>, items: readonly Item[]): readonly ToolSchema[] {
  const found = new Map<string, ToolSchema>();
  for (const item of items) {
    if (item.kind !== "result" || item.author !== searchName || isErased(item)) continue;
    for (const schema of foundTools(item.body.data)) if (names.has(schema.name)) found.set(schema.name, schema);
  }
  return [...found.values()].slice(-mostFound);
}
