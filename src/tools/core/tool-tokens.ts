import type { ToolSchema } from "../../protocol/agents/models.ts";

const known = new WeakMap<ToolSchema, number>();

/** Estimates the tokens that offering a tool costs in each prompt: four characters of its JSON each. */
export function tokensOfTool(tool: ToolSchema): number {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const { name, description, parameters } = tool;
  const tokens = Math.ceil(JSON.stringify({ name, description, parameters }).length / 4);
  known.set(tool, tokens);
  return tokens;
}
