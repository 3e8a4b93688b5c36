import type { Random } from "./random.ts";

export const effectTools = [
  "send_idempotent",
  "send_reconcilable",
  "send_plain",
  "send_approved",
  "outside_send",
] as const;
/** Neither honours a key nor can be asked what became of a call. */
export const blindTools: readonly string[] = ["send_plain", "outside_send"];
export type EffectTool = (typeof effectTools)[number];
export type ToolName = "look" | "add_task" | "delegate" | EffectTool;

/** To whom work is delegated. */
export const helperId = "helper";

/** What a run does: rounds of calls, then an answer. It stands in the message, so that any step can be answered anew. */
export type Script = {
  /** Unique; the first part of the name of each of its effects. */
  readonly tag: string;
  readonly rounds: readonly (readonly ToolName[])[];
  /** Pieces of text of the last answer. */
  readonly words: number;
};

export type ScriptedCall = { readonly name: ToolName; readonly effect: string; readonly arguments: object };

const tools: readonly ToolName[] = ["look", "add_task", "delegate", ...effectTools];

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
    return { name, effect, arguments: argumentsOf(name, effect) };
  });
}

function argumentsOf(name: ToolName, effect: string): object {
  if (name === "add_task") return { title: effect };
  return name === "delegate" ? { agent: helperId, task: messageOf(taskOf(effect)) } : { effect };
}

/** What a delegated run does. */
export function taskOf(effect: string): Script {
  return { tag: effect, rounds: [["look", "add_task"], ["send_reconcilable"]], words: 10 };
}

/** All that happens in a run and in those that it delegates. */
export function allCallsOf(script: Script): readonly ScriptedCall[] {
  return script.rounds
    .flatMap((_, round) => callsOf(script, round))
    .flatMap((call) => (call.name === "delegate" ? [call, ...allCallsOf(taskOf(call.effect))] : [call]));
}

/** The pieces of text that the model says in a round, the last one being the answer. */
export function textOf({ tag, rounds, words }: Script, round: number): readonly string[] {
  const isAnswer = round >= rounds.length;
  return Array.from(
    { length: isAnswer ? words : 6 },
    (_, at) => `${tag} ${isAnswer ? "answer" : `round ${round}`} ${at}, `,
  );
}
