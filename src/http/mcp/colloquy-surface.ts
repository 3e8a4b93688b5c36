import type { Caller } from "../../protocol/callers.ts";
import type { Services } from "../services.ts";
import { askAgents, runResult } from "./ask-agents.ts";
import { colloquyPrompts } from "./prompts.ts";
import { registryTools } from "./registry-tools.ts";
import type { McpSurface, McpTool } from "./surface.ts";
import { threadResources } from "./thread-resources.ts";

const instructions = `Colloquy's tools, and its agents as tools named ask_<agent>. An answer of an agent names its thread: send it along to go on with the conversation. A call may have to wait for a person's decision; if its result says so, tell the user, and take the outcome with run_result.`;

/** Colloquy as an MCP server, for one caller. `within`: the header of a request that a run of ours sent. */
export function colloquySurface(
  services: Services,
  caller: Caller,
  within: { readonly within?: string } = {},
): McpSurface {
  return {
    info: { name: "colloquy", title: "Colloquy", version: services.version },
    instructions,
    async tools() {
      const own = await registryTools(services, caller);
      const taken = new Set(own.map(({ definition }) => definition.name));
      const others = [...askAgents(services, caller, within), runResult(services, caller)];
      return sorted([...own, ...others.filter(({ definition }) => !taken.has(definition.name))]);
    },
    prompts: colloquyPrompts(services, caller),
    resources: threadResources(services, caller),
  };
}

function sorted(tools: readonly McpTool[]): readonly McpTool[] {
  return tools.toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
}
