import type { Random } from "./random.ts";

export const effectTools = ["send_idempotent", "send_reconcilable", "send_plain", "send_approved"] as const;
export type EffectTool = (typeof effectTools)[number];
export type ToolName = "look" | "add_task" | EffectTool;

/** What a run does: rounds of calls, then an answer. It stands in the message, so that any step can be answered anew. */
export type Script = {
  /** Unique; the first part of the name of each of its effects. */
  readonly tag: string;
  readonly rounds: readonly (readonly ToolName[])[];
  /** Pieces of text of the last answer. */
  readonly words: number;
};

export type ScriptedCall = { readonly name: ToolName; readonly effect: string; readonly arguments: object };

const tools: readonly ToolName[] = ["look", "add_task", ...effectTools];

export function randomScript(random: Random, tag: string): Script {
  const rounds = Array.from({ length: random.between(0, 3) }, () =>
    Array.from({ length: random.between(1, 2) }, () => random.pick(tools)),
  );
  // Some last longer than the grace of a process that is to stop.
  return { tag, rounds, words: random.chance(0.05) ? 300 : random.between(10, 50) };
}

export function messageOf(script: Script): string {
  return JSON.stringify(script);
}

/** Undefined for text that is none of ours. */
export function scriptIn(text: string): Script | undefined {
  return text.startsWith('{"tag":') ? (JSON.parse(text) as Script) : undefined;
}

export function callsOf({ tag, rounds }: Script, round: number): readonly ScriptedCall[] {
  return (rounds[round] ?? []).map((name, index) => {
    const effect = `${tag}.${round}.${index}`;
    return { name, effect, arguments: name === "add_task" ? { title: effect } : { effect } };
  });
}

/** The pieces of text that the model says in a round, the last one being the answer. */
export function textOf({ tag, rounds, words }: Script, round: number): readonly string[] {
  const isAnswer = round >= rounds.length;
  return Array.from(
    { length: isAnswer ? words : 6 },
    (_, at) => `${tag} ${isAnswer ? "answer" : `round ${round}`} ${at}, `,
  );
}
