import type { z } from "zod";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Tool, ToolContext } from "../../protocol/agents/tools.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";
import type { Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { defineTool, type ToolDefinition } from "../core/define-tool.ts";
import { errorResult } from "../core/tool-result.ts";

export type FileToolDefinition<Input extends z.ZodType> = Pick<
  ToolDefinition<Input>,
  "name" | "description" | "input" | "effect"
> & {
  readonly execute: (input: z.output<Input>, workspace: Workspace, context: ToolContext) => Promise<unknown>;
};

const timeoutMs = 30_000;

/** A tool on the files of the call's thread. What is wrong with a path is a result that begins `ERROR(<its name>): `. */
export function fileTool<Input extends z.ZodType>(
  workspaces: Pick<Workspaces, "open">,
  { execute, ...definition }: FileToolDefinition<Input>,
): Tool {
  return defineTool({
    ...definition,
    scope: "sandbox",
    timeoutMs,
    async execute(input, context) {
      try {
        return await execute(input, await workspaces.open(context.rootThreadId), context);
      } catch (error) {
        if (error instanceof ColloquyError) return errorResult(`ERROR(${definition.name}): ${error.message}`);
        throw error;
      }
    },
  });
}
