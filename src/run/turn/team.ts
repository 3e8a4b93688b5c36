import { z } from "zod";
import { permittedAgents } from "../../agents/registry.ts";
import type { AgentDefinition, AgentRegistry } from "../../protocol/agents/agents.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import type { TeamMember } from "../../protocol/threads/runs.ts";
import type { Tool, ToolRegistry } from "../../protocol/agents/tools.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { matchesGlob } from "../../protocol/base/glob.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import { callKey } from "../log/fold.ts";

/** Takes the place of another tool of this name, for agents that have a team. */
export const delegateName = "delegate";

/** The agents that one may hand work to, with the tools that each may use for this caller. */
export function teamOf(
  { agents, tools }: { agents: AgentRegistry; tools: ToolRegistry },
  agent: AgentDefinition,
  caller: Caller,
): TeamMember[] {
  return permittedAgents(agents, caller)
    .list()
    .filter(({ id }) => id !== agent.id && agent.agents.some((glob) => matchesGlob(glob, id)))
    .map((member) => ({ agent: member, tools: tools.select(member.tools, caller).map(({ name }) => name) }));
}

/** `final`: the other's answer is the answer, so it is given the conversation too. */
export type DelegateInput = { readonly agent: string; readonly task: string; readonly final?: boolean | undefined };

/** Defines the tool that delegates. Its call is not executed like another tool's but becomes a child run. */
export function delegateTool(team: readonly TeamMember[]): Tool {
  const who = team.map(({ agent }) => `- ${agent.id}${agent.description ? `: ${agent.description}` : ""}`).join("\n");
  return defineTool({
    name: delegateName,
    description: `Gives a task to another agent and returns its answer. It sees nothing of this conversation, so the task must say all it needs, unless you hand the conversation over with final. Several calls in one answer work at the same time.\n${who}`,
    input: z.strictObject({
      agent: z.enum(team.map(({ agent }) => agent.id) as [string, ...string[]]).describe("Who is to do it"),
      task: z.string().min(1).max(100_000).describe("What is to be done, with all that must be known for it"),
      final: z.boolean().optional().describe("True: its answer goes to the user as it is, and your work is done"),
    }),
    effect: "read",
    execute() {
      throw new Error("A delegated task is done by a run, not by a tool.");
    },
  });
}

/** An agent's answer that goes to the user as it is. */
export type Handover = { readonly agent: string; readonly content: string; readonly model?: string | undefined };

/** The answer of an agent that the conversation was handed over to, if that was the last thing that happened. */
export function lastHandover(items: readonly Item[]): Handover | undefined {
  const last = items.findLastIndex((item) => item.kind === "message");
  const since = items.slice(last + 1);
  for (const call of since) {
    if (call.kind !== "call" || call.body.name !== delegateName) continue;
    const result = since.find(
      (item): item is ItemOf<"result"> => item.kind === "result" && callKey(item) === callKey(call),
    );
    // A result says that the arguments were good.
    if (!result || result.body.isError) continue;
    const { agent, final } = JSON.parse(call.body.arguments) as DelegateInput;
    if (final) return { agent, content: result.body.content, model: modelIn(result.body.data) };
  }
  return undefined;
}

const delegatedSchema = z.looseObject({ model: z.string().optional() });

/** The model that wrote a delegated run's answer; of results from before it was told, undefined. */
function modelIn(data: unknown): string | undefined {
  return delegatedSchema.safeParse(data).data?.model;
}
