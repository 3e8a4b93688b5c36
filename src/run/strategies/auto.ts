import { fillPrompt, promptPlaceholders } from "../../agents/prompt-placeholders.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import { protocolText } from "../log/fold.ts";
import type { Strategy, Turn } from "../contract/turn.ts";
import { visibleText } from "../text/visible-text.ts";
import { chooseByRules, shortened, type StrategyChoice } from "./auto-rules.ts";

const ways: readonly { readonly name: StrategyChoice["strategy"]; readonly meaning: string }[] = [
  { name: "chat", meaning: "no tools: talk, opinion, writing, translation, general knowledge" },
  { name: "tools", meaning: "tools as needed: one or a few plain uses" },
  { name: "react", meaning: "tools step by step: an investigation in which each finding decides what comes next" },
  { name: "plan-execute", meaning: "a plan first: several pieces of work that build on one another" },
];

/** Picks a strategy for a request and runs it. Asks a model only if the rules are unsure. */
export const auto: Strategy = Object.assign(pickStrategy, {
  // A run keeps its prompts from its start, so those of the strategies that it may go on with too.
  prompts: [...promptPlaceholders.keys()].filter((name) => /^(auto|react|plan)_/.test(name)),
});

async function pickStrategy(turn: Turn): Promise<void> {
  const turns = turnsOf(turn);
  const choice = chooseByRules({ text: turn.run.input, tools: turn.run.tools, turns });
  const { strategy, reason } = choice.sure ? choice : await askModel(turn, turns);
  await turn.record("choice", { kind: "state", body: { type: "strategy", strategy, reason } });
}

/** A message without one before it begins the thread. */
function turnsOf({ fold }: Turn): number {
  const input = fold.items.find((item) => item.kind === "message" && item.step === null);
  return input?.parentId === null ? 1 : 2;
}

/** Asks the model. Called only if no rule calls for a tool, so its choice of "chat" can be trusted. */
async function askModel(turn: Turn, turns: number): Promise<Omit<StrategyChoice, "sure">> {
  const question: ModelMessage = { role: "user", content: questionFor(turn) };
  await turn.step("choose", {
    // "The same for May" says nothing without what was said before.
    ...(turns > 1 ? { then: [question] } : { messages: [question] }),
    withoutTools: true,
    read: () => ({}),
    settings: { temperature: 0, maxTokens: 200 },
  });
  const item = turn.fold.items.find((each) => each.kind === "message" && each.step === "choose");
  const named = item?.kind === "message" ? strategyIn(protocolText(item) ?? "") : undefined;
  // What may need a tool is safe only where there are tools.
  if (named === undefined) return { strategy: "tools", reason: "The model did not name one of the strategies." };
  return { strategy: named, reason: "The model was asked." };
}

function questionFor({ run }: Turn): string {
  return fillPrompt(run.prompts["auto_choose"] ?? "", {
    question: shortened(run.input),
    strategies: ways.map(({ name, meaning }) => `- ${name}: ${meaning}`).join("\n"),
    tools: run.tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n"),
  });
}

/** Reads the strategy from the field of that name, or else the only one mentioned in the text. */
export function strategyIn(text: string): StrategyChoice["strategy"] | undefined {
  const { text: visible, thinking } = visibleText(text);
  const spoken = visible || thinking;
  const field = /strategy["'*`]*\s*[:=]\s*["'*`]*([a-z-]+)/i.exec(spoken)?.[1]?.toLowerCase();
  const stated = ways.find(({ name }) => name === field);
  if (stated) return stated.name;
  const named = ways.filter(({ name }) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "i").test(spoken));
  return named.length === 1 ? named[0]!.name : undefined;
}
