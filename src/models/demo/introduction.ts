import type { ToolSchema } from "../../protocol/agents/models.ts";

export const label = "(demo model, rule-based)";

/** What can be tried, by the tool that it takes. */
const samples: readonly (readonly [tool: RegExp, sentence: string])[] = [
  [/(?:^|_)add_task$/, "add a task to buy milk"],
  [/^list_files$/, "list the files"],
  [/^bash$/, "run the bash command 'ls -a'"],
];

/** What it says where no rule fits. */
export function introduction(sentence: string, tools: readonly ToolSchema[]): string {
  // Whom it quotes it does not call.
  const quoted = sentence.slice(0, 500).replaceAll("@", "");
  return `You said: "${quoted}". I follow rules and understand little; configure a real model for more. ${offer(tools)}`;
}

/** The same in a room, where quotes would be quoted by the next who speaks. */
export function shortIntroduction(tools: readonly ToolSchema[]): string {
  const sample = sampleFor(tools);
  return `I follow rules and understand little; configure a real model for more.${sample && ` Try ${sample}.`}`;
}

function offer(tools: readonly ToolSchema[]): string {
  if (tools.length === 0) return "In this step no tools are offered to me.";
  const sample = sampleFor(tools);
  return `I can use these tools: ${tools.map(({ name }) => name).join(", ")}.${sample && ` Try ${sample}.`}`;
}

function sampleFor(tools: readonly ToolSchema[]): string {
  const sample = samples.find(([tool]) => tools.some(({ name }) => tool.test(name)));
  return sample ? `"${sample[1]}"` : "";
}
