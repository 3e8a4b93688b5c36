import { stringify } from "yaml";
import { type AgentDefinition, agentSchema } from "../protocol/agents.ts";

/** An agent as the Markdown file that says the same, for the folder of agents: `<id>.md`. */
export function agentFile({ id, instructions, ...agent }: AgentDefinition): string {
  const usual: Readonly<Record<string, unknown>> = agentSchema.parse({ id });
  const said = Object.entries(agent).filter(
    ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(usual[key]),
  );
  const front = said.length === 0 ? "" : stringify(Object.fromEntries(said), { lineWidth: 0 });
  return `---\n${front}---\n\n${instructions}\n`;
}
