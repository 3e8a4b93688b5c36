import { z } from "zod";
import { defineTool } from "../src/tools/core/define-tool.ts";

/** A tool that asks for the cancelling of its run as another node does: the process at work hears of it by its next look. */
export const markCancelled = defineTool({
  name: "mark",
  description: "Asks this run to be cancelled.",
  input: z.object({}),
  effect: "read",
  async execute(_input, { runId, query }) {
    await query("update runs set cancel_asked = true where id = $1", [runId]);
    return "marked";
  },
});
