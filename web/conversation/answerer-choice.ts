import { useState } from "react";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { useQuery } from "../page/path.ts";

/** Who is to answer, and with which model; empty: the agent's own. */
export type AnswererChoice = { readonly agent: string; readonly model: string };

/** What was chosen last in each conversation; the oldest go. */
const store = createStoredChoice("choices");
const most = 200;

type ChoiceInput = {
  readonly threadId: string | undefined;
  readonly agents: readonly AgentView[];
  /** For whom the conversation was begun, or those of its folder are. */
  readonly begunFor: string | null | undefined;
};

/** The choice for this conversation: what was chosen here, else what the address says, else the one it was begun for. */
export function useChoice({ threadId, agents, begunFor }: ChoiceInput) {
  const wished = useQuery().get("agent");
  const kept = read(store.use())[threadId ?? ""];
  const [first, setFirst] = useState<Partial<AnswererChoice>>({});
  const usual = agents.find(({ isDefault }) => isDefault)?.id ?? "assistant";
  const made = threadId === undefined ? first : kept;
  const missing =
    threadId === undefined && wished !== null && agents.length > 0 && !agents.some(({ id }) => id === wished)
      ? wished
      : undefined;
  const choice: AnswererChoice = {
    agent: made?.agent ?? (threadId === undefined && missing === undefined ? wished : undefined) ?? begunFor ?? usual,
    model: made?.model ?? "",
  };
  return {
    ...choice,
    /** The address asks for an agent that is not there. */
    missing,
    choose(change: Partial<AnswererChoice>) {
      if (threadId === undefined) setFirst({ ...first, ...change });
      else keepChoice(threadId, { ...choice, ...change });
    },
  };
}

export function keepChoice(threadId: string, choice: AnswererChoice): void {
  const { [threadId]: _before, ...others } = read(store.get());
  store.set(JSON.stringify(Object.fromEntries([...Object.entries(others).slice(1 - most), [threadId, choice]])));
}

function read(text: string): Readonly<Record<string, AnswererChoice>> {
  try {
    const choices: unknown = JSON.parse(text);
    return typeof choices === "object" && choices !== null ? (choices as Record<string, AnswererChoice>) : {};
  } catch {
    return {};
  }
}
