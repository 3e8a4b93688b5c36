import { z } from "zod";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";

/** A write that never tells what became of it, unless it is given what it answers. */
export function letterTool(execute: () => unknown = () => new Promise(() => {})): Tool {
  return defineTool({
    name: "send_letter",
    description: "Sends a letter.",
    input: z.object({}),
    effect: "write",
    timeoutMs: 50,
    execute,
  });
}
