import { holds } from "../protocol/callers.ts";
import { Conflict } from "../protocol/errors.ts";
import { matchesGlob } from "./glob.ts";
import type { ToolSchema } from "../protocol/models.ts";
import type { Tool, ToolRegistry } from "../protocol/tools.ts";

/** All tools, always in the order of their names. Throws Conflict when two share one. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))) {
    const other = byName.get(tool.name);
    if (other) {
      throw new Conflict(`Two tools are named ${tool.name}: one from ${other.source}, one from ${tool.source}.`, {
        code: "duplicate_tool",
      });
    }
    byName.set(tool.name, tool);
  }
  const sorted: readonly Tool[] = [...byName.values()];
  return {
    get: (name) => byName.get(name),
    select: (globs, caller) => {
      const isNamed = matcher(globs);
      return sorted.filter((tool) => isNamed(tool.name) && holds(caller, tool.permissions));
    },
    list: () => sorted,
  };
}

/** What a model is told of the tools. */
export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** A glob after `!` takes names out again, wherever it stands in the list. */
function matcher(globs: readonly string[]): (name: string) => boolean {
  const included = globs.filter((glob) => !glob.startsWith("!"));
  const excluded = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  const isIn = (list: readonly string[], name: string) => list.some((glob) => matchesGlob(glob, name));
  return (name) => isIn(included, name) && !isIn(excluded, name);
}
