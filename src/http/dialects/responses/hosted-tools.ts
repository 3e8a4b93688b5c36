import type { AgentDefinition } from "../../../protocol/agents/agents.ts";
import type { ToolChoice } from "../../../protocol/agents/models.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { matchesGlob } from "../../../protocol/base/glob.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { JsonFields } from "../../answers/request-values.ts";
import type { DecodedTools } from "./decode-tools.ts";

/** Which tools of ours do what OpenAI's service would, by the type of its tool. */
const served: readonly (readonly [type: RegExp, tools: readonly string[]])[] = [
  [/^web_search/, ["websearch"]],
  [/^file_search$/, ["rag", "search_files"]],
  [/^code_interpreter$/, ["run_python", "python_coder", "bash"]],
];

export type HostedTools = {
  /** Those that nobody runs here. */
  readonly leftOut: readonly string[];
  /** The tool of ours that the answer must use. */
  readonly toolChoice?: ToolChoice;
};

/**
 * What becomes of tools that the service itself would run: an agent uses its own where it has them, a model has none. Throws
 * InvalidInput if the answer must use one that is not there.
 */
export function hostedTools(
  { services, caller }: Pick<EndpointCall, "services" | "caller">,
  agent: AgentDefinition | undefined,
  { hosted, forced }: Pick<DecodedTools, "hosted" | "forced">,
): HostedTools {
  if (hosted.length === 0 && forced === undefined) return { leftOut: [] };
  const own = agent ? services.tools.select(agent.tools, caller).map(({ name }) => name) : [];
  const serving = (tool: JsonFields) => own.find((name) => globsOf(tool).some((glob) => matchesGlob(glob, name)));
  const leftOut = hosted.filter((tool) => serving(tool) === undefined).map(nameOf);
  if (forced === undefined) return { leftOut };
  if (forced === "required" && own.length > 0) return { leftOut, toolChoice: "required" };
  const name = forced === "required" ? undefined : serving(hosted.find(({ type }) => type === forced) ?? {});
  if (name !== undefined) return { leftOut, toolChoice: { name } };
  throw new InvalidInput(
    forced === "required"
      ? "tool_choice: required, but there is no tool to call"
      : `tool_choice: ${JSON.stringify(forced)} must be used, but there is no such tool here`,
    { param: "tool_choice" },
  );
}

function globsOf({ type, server_label: server }: JsonFields): readonly string[] {
  if (type === "mcp") return typeof server === "string" ? [server.replaceAll(/[^A-Za-z0-9-]/g, "_") + "_*"] : [];
  return served.find(([types]) => types.test(String(type)))?.[1] ?? [];
}

/** For a header. */
function nameOf({ type, server_label: server }: JsonFields): string {
  const name = typeof server === "string" ? `${String(type)}:${server}` : String(type);
  return name.replaceAll(/[^\w.:-]/g, "_").slice(0, 80);
}
