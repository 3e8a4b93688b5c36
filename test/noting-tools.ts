import { z } from "zod";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import schemas from "./messy-answers/tools.json" with { type: "json" };

/** The tools that messy answers ask for; they take anything and note what they are given. */
export function notingTools(seen: unknown[]): readonly Tool[] {
  return Object.entries(schemas).map(([name, parameters]) => ({
    ...defineTool({
      name,
      description: "Takes anything.",
      input: z.looseObject({}),
      effect: "read",
      execute: (input) => void seen.push([name, input]),
    }),
    parameters,
  }));
}
