import { setTimeout as sleep } from "node:timers/promises";
import type { QuestionView } from "../src/protocol/threads/run-shapes.ts";
import type { Client } from "../src/client/client.ts";
import { ColloquyError } from "../src/protocol/base/errors.ts";
import { askAny, type Node } from "./cluster.ts";
import type { Outside } from "./outside.ts";
import type { Random } from "./random.ts";

export type Person = {
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly outside: Outside;
  readonly signal: AbortSignal;
  /** What went against the promises. */
  readonly complain: (text: string) => void;
};

/** Answers all that a run waits for, sometimes twice at once on different nodes. */
export async function answerQuestions(person: Person, runId: string): Promise<void> {
  const { nodes, random, signal } = person;
  const { questions } = await askAny(nodes, random, { ask: (client, within) => client.run(runId, within), signal });
  for (const question of questions) {
    // It goes on by itself when the provider is back; some can't wait.
    if (question.reason === "provider") {
      await sleep(random.between(1000, random.chance(0.3) ? 60_000 : 10_000));
      await decide(person, question, { decision: "retry" });
      continue;
    }
    const answer = decisionOn(person, question);
    const decideOnce = () => decide(person, question, answer);
    const taken = await Promise.all(random.chance(0.3) ? [decideOnce(), decideOnce()] : [decideOnce()]);
    if (taken.filter((outcome) => outcome === "taken").length > 1)
      person.complain(`question ${question.id} took two decisions`);
  }
}

type Answer = Parameters<Client["decide"]>[1];

function decisionOn({ random, outside }: Person, { reason, arguments: given }: QuestionView): Answer {
  if (reason === "approval") return { decision: random.chance(0.85) ? "allow" : "deny" };
  if (reason === "limit") return { decision: "continue" };
  // Of an unknown outcome: a person looks at the other system.
  const { effect } = JSON.parse(given ?? "{}") as { effect?: string };
  return { decision: outside.effectsOf(effect ?? "").length > 0 ? "done" : "retry" };
}

/** `taken` only if a node said so at the first try: a lost answer and a second try may find one's own decision. */
async function decide(
  { nodes, random, signal }: Person,
  question: QuestionView,
  answer: Answer,
): Promise<"taken" | "other"> {
  let tries = 0;
  try {
    await askAny(nodes, random, {
      signal,
      ask(client, within) {
        tries++;
        return client.decide(question, answer, within);
      },
    });
    return tries === 1 ? "taken" : "other";
  } catch (error) {
    // Decided, or ended, meanwhile.
    if (error instanceof ColloquyError && error.status === 409) return "other";
    throw error;
  }
}
