import { z } from "zod";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";

/** A write whose effect is counted outside. */
export function postEffect(outside: string): Tool {
  return defineTool({
    name: "post_effect",
    description: "Has an effect outside.",
    input: z.object({}),
    effect: "write",
    timeoutMs: 1500,
    execute: async () => {
      await fetch(`${outside}/effect`, { method: "POST" });
      return "done";
    },
  });
}
