import { z } from "zod";
import type { ToolSchema } from "../../protocol/agents/models.ts";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { defineTool } from "./define-tool.ts";

export const searchName = "search_tools";

const maxFound = 10;
/** Tools that are named to a model beforehand. */
const maxNamed = 30;
/** Of the words in a name and in a description. */
const nameWeight = 3;
/** The usual constants of BM25. */
const saturation = 1.2;
const lengthWeight = 0.75;

/**
 * Splits an agent's tools if there are more than `above`: tools of MCP servers are `deferred`, unless the agent's file
 * lists them without a glob, and found with `search_tools` when needed.
 */
export function deferTools(
  tools: readonly Tool[],
  { above, named }: { readonly above: number; readonly named: readonly string[] },
): { readonly offered: readonly Tool[]; readonly deferred: readonly Tool[] } {
  const isDeferred = ({ name, source }: Tool) => source.startsWith("mcp:") && !named.includes(name);
  const deferred = tools.length > above ? tools.filter(isDeferred) : [];
  if (deferred.length === 0) return { offered: tools, deferred };
  return { offered: [...tools.filter((tool) => !isDeferred(tool)), searchTool(deferred)], deferred };
}

/** Creates the tool `search_tools`. Its matches are also in `data`, from which the next steps offer them. */
export function searchTool(tools: readonly Tool[]): Tool {
  const counts = new Map<string, number>();
  for (const { source } of tools) counts.set(source, (counts.get(source) ?? 0) + 1);
  const servers = [...counts].map(([source, count]) => `${source.replace(/^mcp:/, "")} (${count})`).join(", ");
  const told =
    tools.length > maxNamed
      ? `There are ${tools.length}, of these servers: ${servers}.`
      : `They are: ${tools.map(({ name }) => name).join(", ")}.`;
  return defineTool({
    name: searchName,
    description: `Finds tools that are not listed here, by what they do or by name. What it finds can be called from then on. ${told}`,
    input: z.strictObject({
      query: z.string().min(1).max(500).describe("What the tool is to do, in a few words, or its name"),
      limit: z.int().min(1).max(maxFound).default(3),
    }),
    effect: "read",
    isPublic: true,
    execute: ({ query, limit }): ToolResult => {
      const found = rank(tools, query).slice(0, limit);
      if (found.length === 0) return { content: `No tool fits. Use other words. ${told}`, data: { tools: [] } };
      const schemas = found.map(({ name, description, parameters }) => ({ name, description, parameters }));
      // With what they take they are offered from the next step on.
      const texts = schemas.map((tool) => `${tool.name}: ${tool.description}`);
      return { content: texts.join("\n\n"), data: { tools: schemas } };
    },
  });
}

const foundSchema = z.object({
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
});

/** Returns the tools that a call of `search_tools` found. */
export function foundTools(data: unknown): readonly ToolSchema[] {
  const parsed = foundSchema.safeParse(data);
  return parsed.success ? parsed.data.tools : [];
}

/** Ranks by BM25 over names, descriptions and argument names; an exact name comes first. */
function rank(tools: readonly Tool[], query: string): Tool[] {
  const wanted = [...new Set(wordsOf(query))];
  const documents = tools.map((tool) => ({ tool, counts: countsOf(tool) }));
  const lengths = documents.map(({ counts }) => [...counts.values()].reduce((sum, count) => sum + count, 0));
  const average = lengths.reduce((sum, length) => sum + length, 0) / (lengths.length || 1);
  const rarity = new Map(
    wanted.map((word) => {
      const holders = documents.filter(({ counts }) => counts.has(word)).length;
      return [word, Math.log(1 + (tools.length - holders + 0.5) / (holders + 0.5))];
    }),
  );
  return documents
    .map(({ tool, counts }, at) => {
      if (tool.name.toLowerCase() === query.trim().toLowerCase()) return { tool, score: Infinity };
      const length = 1 - lengthWeight + (lengthWeight * lengths[at]!) / average;
      const score = wanted.reduce((sum, word) => {
        const count = counts.get(word) ?? 0;
        return sum + (rarity.get(word)! * count * (saturation + 1)) / (count + saturation * length);
      }, 0);
      return { tool, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

function countsOf({ name, description, parameters }: Tool): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  add(name, nameWeight);
  add(description.slice(0, 2000), 1);
  const { properties } = parameters;
  if (typeof properties === "object" && properties !== null) add(Object.keys(properties).join(" "), 1);
  return counts;
}

/** Lower case, without endings that only say how many or when; `createIssue` and `create_issue` are two words. */
function wordsOf(text: string): string[] {
  const words =
    text
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 4 ? word.replace(/(ies|es|s|ing|ed)$/, "") : word));
}
