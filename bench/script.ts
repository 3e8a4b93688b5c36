/**
 * What the scripted model does, carried in its name so that its server keeps no state:
 * `bench-k<rounds of tool calls>-p<calls in one round>-t<tokens of the answer>-d<milliseconds per token>`, with `-w` behind it
 * if the tool writes.
 */
export type Script = {
  readonly rounds: number;
  readonly parallel: number;
  readonly tokens: number;
  /** 0: a whole answer leaves in one write. Else one write per token, the first at once. */
  readonly delay: number;
  /** Its calls are of the tool `record_sum`, which writes, instead of `add`. */
  readonly writes?: boolean;
};

export function formatScript(script: Script): string {
  return `bench-k${script.rounds}-p${script.parallel}-t${script.tokens}-d${script.delay}${script.writes ? "-w" : ""}`;
}

export function parseScript(name: string): Script {
  const match = /^bench-k(\d{1,3})-p(\d{1,3})-t(\d{1,5})-d(\d{1,5})(-w)?$/.exec(name);
  if (!match) throw new Error(`The model name carries no script: ${name}`);
  return {
    rounds: +match[1]!,
    parallel: +match[2]!,
    tokens: +match[3]!,
    delay: +match[4]!,
    writes: match[5] !== undefined,
  };
}

/** Stands once in each token and nowhere else on the wire: one byte to count, which no packet border can cut. */
export const tokenMark = "~";

export function tokenText(index: number): string {
  return tokenMark + index;
}

export function countTokens(text: string): number {
  return text.split(tokenMark).length - 1;
}
