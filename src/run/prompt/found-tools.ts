import type { Item } from "../protocol/items.ts";
import type { ToolSchema } from "../protocol/models.ts";
import type { RunDefinition } from "../protocol/runs.ts";
import { foundTools, searchName } from "../tools/search-tools.ts";
import { isErased } from "./fold.ts";

/** That are offered at once: the last ones. */
const mostFound = 40;

/** What searches among these items found of the tools that the run is not offered by itself. */
export function foundIn({ deferred }: RunDefinition, items: readonly Item[]): readonly ToolSchema[] {
  if (!deferred) return [];
  const found = new Map<string, ToolSchema>();
  for (const item of items) {
    if (item.kind !== "result" || item.author !== searchName || isErased(item)) continue;
    for (const schema of foundTools(item.body.data)) if (deferred.includes(schema.name)) found.set(schema.name, schema);
  }
  return [...found.values()].slice(-mostFound);
}
