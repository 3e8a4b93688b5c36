import { z } from "zod";
import { loadAgents } from "../src/agents/load.ts";
import type { AgentDefinition } from "../src/protocol/agents/agents.ts";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";

/** The built-in orchestrator, coder and researcher, answered for by this model. */
export async function orchestratorTeam(
  model: string,
): Promise<{ readonly orchestrator: AgentDefinition; readonly others: readonly AgentDefinition[] }> {
  const { agents } = await loadAgents({ defaults: { model } });
  return { orchestrator: agents.get("orchestrator"), others: [agents.get("coder"), agents.get("researcher")] };
}

type Action = {
  readonly thought?: string;
  readonly action: string;
  readonly tool?: string | null;
  readonly target_agent?: string | null;
  readonly args?: object;
  readonly answer?: string;
};

/** An action as a model writes it, with all its keys. */
export function written({
  thought = "",
  action,
  tool = null,
  target_agent = null,
  args = {},
  answer = "",
}: Action): string {
  return JSON.stringify({ thought, action, tool, target_agent, args, answer });
}

/** A file system of one folder, and Python that only says that it ran; each use is counted. */
export function fileTools(files: Record<string, string>): { readonly tools: readonly Tool[]; readonly uses: string[] } {
  const uses: string[] = [];
  const path = z.string().describe("The file's path");
  const tools = [
    defineTool({
      name: "read_file",
      description: "Read file contents",
      input: z.object({ path }),
      effect: "read",
      execute(input) {
        uses.push(`read_file ${input.path}`);
        const content = files[input.path];
        return content ?? { content: `ERROR(read_file): there is no ${input.path}`, isError: true };
      },
    }),
    defineTool({
      name: "write_file",
      description: "Write to file",
      input: z.object({ path, content: z.string() }),
      effect: "write",
      execute(input) {
        uses.push(`write_file ${input.path}`);
        files[input.path] = input.content;
        return `OK: Wrote ${input.content.length} chars to ${input.path}`;
      },
    }),
    defineTool({
      name: "run_python",
      description: "Execute Python code",
      input: z.object({ code: z.string() }),
      effect: "read",
      execute(input) {
        uses.push(`run_python ${input.code}`);
        return "EXEC_OK: 55";
      },
    }),
  ];
  return { tools, uses };
}
