import type { ModelMessage, ResponseFormat } from "../../protocol/agents/models.ts";
import { textValue } from "../text/call-fields.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { fitting, lastFitting, shortened } from "../text/shorten.ts";
import type { ActionStep } from "./json-actions-steps.ts";
import type { ActionNames } from "./json-actions-parse.ts";

/** Characters of a tool's output that stay in the context once it was answered to. */
const keptOutput = 2000;

/** Characters of a reply that could not be used, as its writer is shown it again. */
const shownReply = 8000;

/** Messages after the conversation that ask for the next action; none before the first. */
export function promptAfter(steps: readonly ActionStep[], query: string | undefined, room: number): ModelMessage[] {
  if (query === undefined) return [];
  return [
    { role: "system", content: `Context from previous steps:\n${contextLog(steps, room - estimate(query))}` },
    { role: "user", content: query },
  ];
}

/** Converts messages for models whose template allows a system message only at the beginning. */
export function withoutSystem(messages: readonly ModelMessage[]): ModelMessage[] {
  const system = messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const others = messages.filter((message) => message.role !== "system");
  const first = others[0];
  if (system.length === 0 || first?.role !== "user") return others;
  return [{ role: "user", content: [...system, first.content].join("\n\n") }, ...others.slice(1)];
}

/** The reply that could not be used, and the request to say it again. */
export function repairPrompt(reply: string, request: string): ModelMessage[] {
  const asked: ModelMessage = { role: "user", content: request };
  const said = shortened(reply, shownReply);
  return said.trim() === "" ? [asked] : [{ role: "assistant", content: said }, asked];
}

/** Describes decisions and results so far; the oldest are left out first. The latest result is in the query instead. */
function contextLog(steps: readonly ActionStep[], tokens: number): string {
  const lines = steps.flatMap(({ agent, number, action, calls }, index) => [
    `[${agent} step ${number}] ${JSON.stringify(action.written)}`,
    ...(index === steps.length - 1 ? [] : calls.map((call) => `[tool ${call.name} output] ${outputOf(call)}`)),
  ]);
  return lastFitting(lines, tokens).join("\n");
}

function outputOf({ output = "" }: ActionStep["calls"][number]): string {
  return shortened(output, keptOutput);
}

/** Returns the next query for the agent that used tools. */
export function toolQuery(calls: ActionStep["calls"], room: number): string {
  const most = room / calls.length;
  const told = calls.map(({ name, output = "" }) => `Tool \`${name}\` output:\n${fitting(output, most)}`).join("\n\n");
  return `${told}\n\nNow continue your reasoning and decide next action.`;
}

export function unknownToolQuery({ action }: ActionStep): string {
  return `Unknown tool '${action.tool ?? "None"}'. Please provide a final answer with available information.`;
}

/** Returns the query for the agent that takes over; `goal`: the user's message. */
export function taskQuery({ action }: ActionStep, goal: string, room: number): string {
  return fitting(textValue(action.args["task"]) || action.answer || `User goal: ${goal}`, room);
}

export function unknownAgentQuery({ action }: ActionStep): string {
  return `Unknown agent '${action.targetAgent ?? "None"}'. Please handle the task yourself or use available tools.`;
}

export function invalidActionQuery({ action }: ActionStep): string {
  const written = JSON.stringify(action.written);
  return `Invalid action '${action.action}'. Previous JSON: ${written}\nPlease provide a 'final' answer.`;
}

/** The person wrote again while an answer was on its way. */
export const addedQuery = "The user has added a message. Now continue your reasoning and decide next action.";

/** The action as a JSON schema, for models that can be held to one. Not strict: nothing is said of what stands in `args`. */
export function actionFormat({ tools, agents }: Required<ActionNames>): ResponseFormat {
  const actions = ["final", ...(tools.length > 0 ? ["use_tool"] : []), ...(agents.length > 0 ? ["delegate"] : [])];
  const properties = {
    thought: { type: "string" },
    action: { type: "string", enum: actions },
    tool: oneOrNone(tools),
    target_agent: oneOrNone(agents),
    args: { type: "object" },
    answer: { type: "string" },
  };
  const schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { type: "json-schema", name: "action", schema, strict: false };
}

function oneOrNone(names: readonly string[]): object {
  return names.length > 0 ? { type: ["string", "null"], enum: [null, ...names] } : { type: "null" };
}
