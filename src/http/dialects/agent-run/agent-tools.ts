import { z } from "zod";
import type { Tool } from "../../../protocol/agents/tools.ts";
import { selectsByGlobs } from "../../../protocol/base/glob.ts";
import { shownName } from "../../../tools/taiga/tool-names.ts";
import { taigaSystem } from "../../../tools/taiga/access.ts";
import { endpoint } from "../../server/endpoint.ts";
import { enterProject } from "./enter-project.ts";
import { agentId, tokenHeaders } from "./schemas.ts";

export const listAgentTools = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Which Taiga tools you may use in a project, and why not the others",
  description: `They follow from \`my_permissions\` of the project. ${tokenHeaders}`,
  query: z.object({ project_ref: z.string().min(1).describe("The project's slug or number") }),
  answers: {
    200: z.object({
      project: z.object({ id: z.int(), slug: z.string(), name: z.string() }),
      permissions: z.array(z.string()),
      tools: z.array(
        z.object({
          name: z.string().describe("Such as taiga.create_task"),
          function: z.string().describe("As models and the tools API call it"),
          description: z.string(),
          parameters: z.record(z.string(), z.unknown()),
          effect: z.enum(["read", "write"]),
          destructive: z.boolean(),
          permissions: z.array(z.string()),
        }),
      ),
      hidden: z.array(z.object({ name: z.string(), missing: z.array(z.string()), reason: z.string() })),
    }),
  },
  async handle(call) {
    const { services, query } = call;
    const { caller, project } = await enterProject(call, query.project_ref);
    const isNamed = selectsByGlobs(services.agents.has(agentId) ? services.agents.get(agentId).tools : ["*"]);
    const all = services.tools.list().filter((tool) => tool.rights === taigaSystem);
    const { id, slug, name, permissions } = project;
    const missing = (tool: Tool) => services.tools.missing(tool, caller);
    return {
      project: { id, slug, name },
      permissions,
      tools: all.filter((tool) => isNamed(tool.name) && missing(tool).length === 0).map(shown),
      hidden: all
        .filter((tool) => !isNamed(tool.name) || missing(tool).length > 0)
        .map((tool) => ({
          name: shownName(tool.name),
          missing: missing(tool),
          reason: isNamed(tool.name)
            ? `You have no right to ${missing(tool).join(", ")} in this project.`
            : `The agent ${agentId} does not use it.`,
        })),
    };
  },
});

function shown({ name, description, parameters, effect, destructive, permissions }: Tool) {
  return { name: shownName(name), function: name, description, parameters, effect, destructive, permissions };
}
