import type { ModelMessage, ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import { clausesOf, label, parsed, textOfResults, type CallResult, type DemoStep, type DemoTask } from "./next-step.ts";
import { propertiesOf } from "./schema-instance.ts";
import { callsFor, type PlannedCall } from "./tool-calls.ts";

type CallStep = { readonly calls: readonly PlannedCall[] };

/** `write` puts the next step into the words that a prompt asks for. */
export type DemoTurn = DemoTask & { readonly write?: (step: DemoStep) => CallStep | { readonly text: string } };

/**
 * What a request asks for, read from the prompts of strategies and rooms; a text if what to say stands there. With a prompt
 * that an operator has rewritten it is plain conversation.
 */
export function turnOf(request: ModelRequest): DemoTurn | string {
  const { messages, toolChoice } = request;
  const systems = messages.filter(({ role }) => role === "system").map(textOf);
  const [instructions = ""] = systems;
  const last = textOf(messages.findLast(({ role }) => role === "user"));
  // Whoever is told to watch, and to speak of real problems only, sees none by rules.
  if (systems.some((text) => /^\[pass\]$/m.test(text))) return "[pass]";
  if (last.startsWith("Someone searches a collection of documents by keywords"))
    return between(last, "\nThe question: ", "\n") ?? last;
  const native: DemoTask = { said: last, tools: offered(request), results: resultsSinceUser(messages) };
  return (
    planTurn(native, instructions) ??
    reactTurn(last, instructions) ??
    actionTurn(request, instructions) ??
    roomTurn(native, messages) ?? { ...native, forced: toolChoice === "required" || typeof toolChoice === "object" }
  );
}

function planTurn(native: DemoTask, instructions: string): DemoTurn | string | undefined {
  const { said } = native;
  if (/^The plan for the request can't go on as it is:/m.test(said)) return '{"steps": []}';
  const brought = between(said, "\nWhat the steps have brought:\n", "\n\nNow write the answer to the user");
  if (brought !== undefined) return `${brought.replaceAll(/^\d+\. .* \[done\]\n/gm, "")}\n\n${label}`;
  const step = between(said, "\nYour step now:\n", "\n\n")?.replace(/^\d+\. /, "");
  if (step !== undefined) {
    const write = (next: DemoStep) => ("calls" in next || next.done ? next : { text: `FAILED: ${next.text}` });
    return { ...native, said: step, brief: true, write };
  }
  if (!/^You make a plan for the user's request/m.test(instructions)) return undefined;
  const tools = toolsIn(instructions);
  return JSON.stringify({ steps: clausesOf(said).filter((clause) => callsFor(clause, tools)) });
}

/** Lines of thought, action and observation. */
function reactTurn(last: string, instructions: string): DemoTurn | string | undefined {
  const at = last.search(/\n\nYour work on the request(?: so far)?:\n/);
  if (at === -1) return undefined;
  const work = last.slice(at);
  if (/^The tool returned:$/m.test(work)) return "final_answer: false\nObservation: The tool has answered.";
  const call = /^Action: (\S+)\nAction Input: .*\n(?:Result|(Observation: it failed)): /gm;
  const results = resultsIn(work, call, /\n(?:Thought|Observation): |\n\n(?:Write the|Now write)/);
  if (/^Now write the answer to the user\.$/m.test(work))
    return `${textOfResults(results) || "Nothing was found or done."}\n\n${label}`;
  const write = asText(
    (text) => `Thought: I follow rules.\nFinal Answer: ${text}`,
    ({ tool, input }) => `Thought: By my rules ${tool} fits.\nAction: ${tool}\nAction Input: ${JSON.stringify(input)}`,
  );
  return { said: last.slice(0, at), tools: toolsIn(instructions), results, write };
}

/** One JSON action: use a tool, or answer. */
function actionTurn({ format, messages }: ModelRequest, instructions: string): DemoTurn | undefined {
  if (format?.type !== "json-schema" || format.name !== "action") return undefined;
  const context = messages.findLastIndex((message) => textOf(message).startsWith("Context from previous steps:"));
  const [before, since] = context === -1 ? [messages, []] : [messages.slice(0, context), messages.slice(context)];
  const output = /^(?:\[tool |Tool `)([^\s`]+)(?: output\] |` output:\n)/gm;
  const end = /\n(?:\[\S+ step |\[tool |\nTool `|\nNow continue )/;
  const { enum: names } = Object(propertiesOf(format.schema)["tool"]) as { readonly enum?: readonly unknown[] };
  const act = (action: object) =>
    JSON.stringify({ thought: "By my rules.", tool: null, target_agent: null, args: {}, answer: "", ...action });
  return {
    said: textOf(before.findLast(({ role }) => role === "user")),
    tools: toolsIn(instructions).filter(({ name }) => names?.includes(name)),
    results: resultsIn(since.map(textOf).join("\n"), output, end),
    write: asText(
      (answer) => act({ action: "final", answer }),
      ({ tool, input }) => act({ action: "use_tool", tool, args: input }),
    ),
  };
}

function asText(answered: (text: string) => string, called: (call: PlannedCall) => string): DemoTurn["write"] {
  return (step) => ({ text: "calls" in step ? called(step.calls[0]!) : answered(`${step.text}\n\n${label}`) });
}

/** The results that a prompt tells of: behind what names the call (and, as a second group, its failure), up to `end`. */
function resultsIn(text: string, call: RegExp, end: RegExp): readonly CallResult[] {
  return [...text.matchAll(call)].map((match) => ({
    name: match[1]!,
    content: text.slice(match.index + match[0].length).split(end, 1)[0]!,
    isError: match[2] !== undefined,
  }));
}

/** In a room it follows what was said last by anybody but a demo, and where it can't, says so in one line. */
function roomTurn(native: DemoTask, messages: readonly ModelMessage[]): DemoTurn | string | undefined {
  if (!/^\[@[^\]\s]+\]: /.test(native.said)) return undefined;
  // What it has answered is not done again.
  const answered = messages.findLastIndex((message) => message.role === "assistant" && !message.calls?.length);
  const heard = messages.slice(answered + 1).filter(({ role }) => role === "user");
  const [, ...lines] = heard
    .map(textOf)
    .join("\n")
    .split(/^\[@[^\]\s]+\]: /m);
  // Who is spoken to is no part of the wish.
  const said = lines.findLast((line) => !line.includes(label))?.replaceAll(/@[\w.-]+[,:]?/g, "");
  if (said === undefined) return "[pass]";
  return {
    ...native,
    said,
    brief: true,
    write: (step) => ("calls" in step ? step : { text: `${step.text} ${label}` }),
  };
}

function offered({ tools = [], toolChoice }: ModelRequest): readonly ToolSchema[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
}

/** Tools as a prompt lists them in words. */
function toolsIn(prompt: string): readonly ToolSchema[] {
  return prompt.split(/^(?=[a-z][\w.-]*: )/m).flatMap((block) => {
    const [, name, description = ""] = /^([a-z][\w.-]*): (.+)/.exec(block) ?? [];
    if (name === undefined) return [];
    const lines = [...block.matchAll(/^ {2}- ([\w.-]+) \((.+?)(, optional)?\)(?:$|: )/gm)];
    const properties = Object.fromEntries(lines.map(([, key = "", kind = ""]) => [key, schemaIn(kind)]));
    const required = lines.flatMap(([, key, , isOptional]) => (isOptional ? [] : key));
    return [{ name, description, parameters: { properties, required } }];
  });
}

function schemaIn(kind: string): unknown {
  const isChoice = kind.startsWith('"');
  return isChoice ? { enum: parsed(`[${kind.replaceAll(" | ", ",")}]`) } : (parsed(kind) ?? { type: kind });
}

function resultsSinceUser(messages: readonly ModelMessage[]): readonly CallResult[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return since.flatMap((message) =>
    message.role === "tool"
      ? [{ name: message.name, content: message.content, isError: message.isError ?? false }]
      : [],
  );
}

function textOf(message: ModelMessage | undefined): string {
  const content = message?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

/** What stands between a beginning and the first end behind it. */
function between(text: string, begin: string, end: string): string | undefined {
  const at = text.indexOf(begin);
  return at === -1 ? undefined : text.slice(at + begin.length).split(end, 1)[0];
}
