import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import type { ThreadSettings } from "../../protocol/threads/threads.ts";

/** The agent as it works in a conversation with these settings; the tools that are off, `defineRun` leaves out. */
export function agentInThread(agent: AgentDefinition, settings: ThreadSettings): AgentDefinition {
  const { model, temperature, reasoningEffort, maxTokens, instructions = "" } = settings;
  return {
    ...agent,
    ...(model === undefined ? {} : { model }),
    instructions: [agent.instructions.trim(), instructions.trim()].filter(Boolean).join("\n\n"),
    settings: {
      ...agent.settings,
      ...(temperature === undefined ? {} : { temperature }),
      ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
      ...(maxTokens === undefined ? {} : { maxTokens: Math.min(maxTokens, agent.settings.maxTokens ?? maxTokens) }),
    },
  };
}
