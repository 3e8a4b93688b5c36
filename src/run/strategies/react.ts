import { fillPrompt } from "../../agents/prompt-placeholders.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import { argumentsOf } from "../text/call-arguments.ts";
import { describeTools } from "../prompt/describe-tools.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { fitting } from "../text/shorten.ts";
import { protocolText } from "../log/fold.ts";
import { currentTimeText } from "../prompt/current-time.ts";
import type { ParsedAnswer, StepOptions, Turn } from "../contract/turn.ts";
import { parseObservation, parseThought } from "./react-parse.ts";
import { isReactStep, resultsOf, scratchpadOf } from "./react-scratchpad.ts";

/** ReAct: thought, action and observation as plain text, which any model can write, until there is an answer. */
export async function react(turn: Turn): Promise<void> {
  for (;;) {
    const { openCalls, answer } = turn.fold;
    if (openCalls.length > 0) await turn.call(openCalls);
    else if (answer) return;
    else await doNext(turn);
  }
}
react.prompts = [
  ...["react_system", "react_system_nanocoder", "react_thought", "react_thought_nanocoder"],
  ...["react_observation", "react_final"],
];

async function doNext(turn: Turn): Promise<void> {
  const steps = turn.fold.items.filter(isReactStep);
  const next = nextOf(turn, steps);
  const key = `${next}:${steps.filter(({ step }) => step!.startsWith(`${next}:`)).length + 1}`;
  if (next === "thought") await think(turn, key);
  else if (next === "observation") await observe(turn, { key, of: steps.at(-1)!.step });
  else await turn.step(key, { ...promptOf(turn, "react_final"), withoutTools: true, final: true });
}

/** Keeps what it was given, for the trace. */
const ofUnknownTool = { type: "object", properties: { input: {} }, required: ["input"] };

type NextSection = "thought" | "observation" | "final";

function nextOf({ fold, run }: Turn, steps: readonly ItemOf<"message">[]): NextSection {
  const { maxIterations, retryOnError } = run.settings.react;
  const last = steps.at(-1);
  const results = last ? resultsOf(fold.items, last.step) : [];
  const failed = results.find(({ body }) => body.isError);
  if (failed && !retryOnError) throw toolFailed(`${failed.author} failed: ${failed.body.content}`);
  if (results.some(({ body }) => !body.isError)) return "observation";
  if (steps.filter(isThought).length >= maxIterations) return "final";
  // An error needs no reading; and what the user has said meanwhile may need more than was found so far.
  if (!last || failed || isUnheard(fold.items, last)) return "thought";
  if (last.step!.startsWith("observation:"))
    return parseObservation(protocolText(last) ?? "").done ? "final" : "thought";
  const { problem } = parseThought(protocolText(last) ?? "", { tools: toolNames(run) });
  if (problem === "missing-action" && !retryOnError) throw toolFailed("The model wrote a thought without an action.");
  // A thought that asked for nothing and gave no answer may be had once more.
  const isSecond = isThought(steps.at(-2)) && resultsOf(fold.items, steps.at(-2)!.step).length === 0;
  return problem === "no-tool" || isSecond || !retryOnError ? "final" : "thought";
}

function isThought(step: ItemOf<"message"> | undefined): boolean {
  return step?.step?.startsWith("thought:") ?? false;
}

function isUnheard(items: readonly Item[], last: ItemOf<"message">): boolean {
  const seen = last.body.seen ?? last.seq;
  return items.some((item) => item.kind === "message" && item.step === null && item.seq > seen);
}

async function think(turn: Turn, key: string): Promise<void> {
  const { run } = turn;
  const schemas = new Map(run.tools.map(({ name, parameters }) => [name, parameters]));
  await turn.step(key, {
    ...promptOf(turn, "react_thought"),
    withoutTools: true,
    final: true,
    read(text): ParsedAnswer {
      const { action, input = "", finalAnswer, problem } = parseThought(text, { tools: toolNames(run) });
      if (action !== undefined)
        return { calls: [{ name: action, arguments: argumentsOf(input, schemas.get(action) ?? ofUnknownTool) }] };
      return finalAnswer && !problem ? { answer: finalAnswer } : {};
    },
  });
}

async function observe(turn: Turn, { key, of }: { key: string; of: string | null }): Promise<void> {
  const results = resultsOf(turn.fold.items, of);
  const result = results.map(({ author, body }) => (results.length > 1 ? `${author}: ${body.content}` : body.content));
  await turn.step(key, {
    ...promptOf(turn, "react_observation", { result: result.join("\n\n"), resultsLeftOut: of }),
    withoutTools: true,
    read: () => ({}),
  });
}

function promptOf(
  { run, fold }: Turn,
  name: string,
  { result = "", resultsLeftOut = null }: { result?: string; resultsLeftOut?: string | null } = {},
): Pick<StepOptions, "instructions" | "then"> {
  const { items } = fold;
  const fill = (prompt: string, values: Readonly<Record<string, string>>) =>
    fillPrompt(promptText(run, prompt), { question: run.input, ...values });
  const system = {
    tools: describeTools(run.tools),
    instructions: run.agent.instructions,
    now: currentTimeText(new Date()),
  };
  return {
    instructions: fill("react_system", system),
    then(room) {
      const left = room - estimate(fill(name, { scratchpad: "", result: "" }));
      const told = fitting(result, left / 2);
      const tokens = left - estimate(told);
      const scratchpad = scratchpadOf(items, { tools: toolNames(run), resultsLeftOut, tokens });
      return [{ role: "user", content: fill(name, { scratchpad, result: told }) }];
    },
  };
}

/** Chooses the prompt's `_nanocoder` version, if it has one, when python_coder takes a task in words instead of code. */
function promptText({ tools, prompts }: Turn["run"], name: string): string {
  const coder = tools.find((tool) => tool.name === "python_coder")?.parameters["properties"];
  const takesTask = typeof coder === "object" && coder !== null && "task" in coder;
  return (takesTask ? prompts[`${name}_nanocoder`] : undefined) ?? prompts[name] ?? "";
}

function toolNames({ tools }: Turn["run"]): string[] {
  return tools.map(({ name }) => name);
}

function toolFailed(what: string): ColloquyError {
  return new ColloquyError("react_tool_failed", 502, `${what} (strategies.react.retryOnError is false.)`);
}
