import { formatScript, type Script } from "./script.ts";

export type Scenario = Script & {
  /** Carries the script. */
  readonly model: string;
  readonly instructions: string;
  readonly history: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  readonly prompt: string;
};

/** Does a scenario in this process, calls `onText` for each piece as it arrives, gives the answer's text. */
export type Runner = (scenario: Scenario, onText: (text: string) => void) => Promise<string>;

function scenario(script: Script, historyLength = 0): Scenario {
  return {
    ...script,
    model: formatScript(script),
    instructions: "You are a careful assistant.",
    history: Array.from({ length: historyLength }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `The quick brown fox jumps over the lazy dog and explains at some length why it did so, part ${index}.`,
    })),
    prompt: "Add the numbers, then tell me the result.",
  };
}

export const scenarios = {
  stream200: scenario({ rounds: 0, parallel: 1, tokens: 200, delay: 0 }),
  loop3: scenario({ rounds: 3, parallel: 1, tokens: 50, delay: 0 }),
  hist400: scenario({ rounds: 0, parallel: 1, tokens: 50, delay: 0 }, 400),
  paced: scenario({ rounds: 0, parallel: 1, tokens: 50, delay: 20 }),
  /** Three tokens of which the first comes at once: time to first token without the work for the rest. */
  first: scenario({ rounds: 0, parallel: 1, tokens: 3, delay: 5 }),
} as const;
export type ScenarioName = keyof typeof scenarios;

export const addParameters = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
} as const;

/** The one tool of all runners, as the OpenAI wire has it. */
export const addTool = {
  type: "function",
  function: { name: "add", description: "Add two numbers", parameters: addParameters },
} as const;

let added = 0;

export function add(input: { readonly a: number; readonly b: number }): number {
  added++;
  return input.a + input.b;
}

/** How often `add` ran since the last question: runners must not skip or repeat tools. */
export function takeAddCalls(): number {
  const taken = added;
  added = 0;
  return taken;
}
