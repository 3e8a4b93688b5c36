import type { JsonSchema, ModelMessage, ModelRequest, ToolSchema } from "../../protocol/agents/models.ts";
import { closedBlocks } from "../../protocol/base/closed-blocks.ts";
import { introduction, label, shortIntroduction } from "./introduction.ts";
import { resultText, matchTools, type DemoStep, type CallResult, type DemoRequest } from "./next-step.ts";
import { propertiesOf } from "./schema-instance.ts";

/**
 * What the built-in strategies ask for in words, of models that call tools by writing. Each is known by what its prompt says;
 * one that an operator has rewritten is answered as plain conversation.
 */
export type CallFormat = {
  /** What a person asked, as it stands in the request. */
  readonly said: string;
  readonly work: Omit<DemoRequest, "sentence">;
  /** Calls are a part of the text; else they are made as usual, and only texts are written. */
  readonly writesCalls: boolean;
  /** Undefined: nothing fits. */
  readonly write: (next: DemoStep | undefined, sentence: string) => string;
};

/** The format that a request asks for; a text where what to say stands in it; undefined: none, it is plain conversation. */
export function formatOf(request: ModelRequest): CallFormat | string | undefined {
  const system = request.messages.find((message) => message.role === "system");
  const instructions = messageText(system);
  const last = messageText(request.messages.findLast((message) => message.role === "user"));
  if (/^Someone searches a collection of documents by keywords/m.test(last))
    return /^The question: (.+)$/m.exec(last)?.[1] ?? last;
  return (
    planFormat(request, instructions, last) ??
    (/^Action Input:/m.test(last) || /^Your work on the request(?: so far)?:$/m.test(last)
      ? thoughtFormat(instructions, last)
      : undefined) ??
    actionFormat(request, instructions)
  );
}

function planFormat(request: ModelRequest, instructions: string, last: string): CallFormat | string | undefined {
  if (/^The plan for the request can't go on as it is:/m.test(last)) return JSON.stringify({ steps: [] });
  const brought = firstBlock(last, /^What the steps have brought:\n/gm, /\n\nNow write the answer to the user/g);
  if (brought !== undefined) return `${brought.replaceAll(/^\d+\. .* \[done\]\n/gm, "")}\n\n${label}`;
  const [, step] = /^Your step now:\n\d+\. (.+)$/m.exec(last) ?? [];
  if (step !== undefined)
    return {
      said: step,
      work: { tools: request.tools ?? [], ...callsSinceUser(request.messages) },
      writesCalls: false,
      write: (next) => {
        if (!next || "calls" in next) return "FAILED: no tool of mine fits.";
        return next.done ? next.text : `FAILED: ${next.text}`;
      },
    };
  if (!/^You make a plan for the user's request/m.test(instructions)) return undefined;
  const tools = toolsIn(instructions);
  return {
    said: last,
    work: { tools, rounds: [], results: [] },
    writesCalls: true,
    write: (_, sentence) => JSON.stringify({ steps: matchTools(sentence, tools).map(({ clause }) => clause) }),
  };
}

function firstBlock(text: string, beginning: RegExp, end: RegExp): string | undefined {
  return closedBlocks(text, beginning, () => end)[0]?.inner;
}

/** Lines of thought, action and observation. */
function thoughtFormat(instructions: string, last: string): CallFormat | string {
  const at = last.lastIndexOf("\n\nYour work on the request");
  const said = at === -1 ? last.split("\n\n", 1)[0]! : last.slice(0, at);
  const actions = at === -1 ? [] : actionsIn(last.slice(at));
  const tools = toolsIn(instructions);
  const result = firstBlock(last, /^<result>\n/gm, /\n<\/result>$/gm);
  const seen = result === undefined ? undefined : { name: actions.at(-1)?.name ?? "", content: result, isError: false };
  const results = seen ? [...actions.slice(0, -1), seen] : actions;
  const work = { tools, rounds: actions.map(({ name }) => name), results };
  if (seen)
    return {
      said,
      work,
      writesCalls: true,
      write: (next) => `final_answer: ${String(!next || !("calls" in next))}\nObservation: ${resultText(seen)}`,
    };
  if (at !== -1 && /^Now write the answer to the user\.$/m.test(last.slice(at)))
    return `${results.map(resultText).join("\n\n") || "Nothing was found or done."}\n\n${label}`;
  return {
    said,
    work,
    writesCalls: true,
    write(next, sentence) {
      if (next && "calls" in next) {
        const [{ tool, input }] = next.calls as [(typeof next.calls)[number]];
        return `Thought: By my rules ${tool} fits.\nAction: ${tool}\nAction Input: ${JSON.stringify(input)}`;
      }
      return `Thought: I follow rules.\nFinal Answer: ${next?.text ?? introduction(sentence, tools)}\n\n${label}`;
    },
  };
}

/** The calls that a scratchpad tells of, with what came of them. */
function actionsIn(scratchpad: string): readonly CallResult[] {
  const [, ...parts] = scratchpad.replace(/\n\nWrite the next step now[^]*$/, "").split(/^Action: /m);
  return parts.map((part) => {
    const [, failure] = /^Observation: it failed: ([^]*?)(?=\n(?:Thought|Observation): |$(?![^]))/m.exec(part) ?? [];
    const [, content] =
      /^Result: ([^]*?)(?=\n(?:Thought|Observation): |\n\n(?:The tool returned|Now write)|$(?![^]))/m.exec(part) ?? [];
    return { name: part.split("\n", 1)[0]!.trim(), content: failure ?? content ?? "", isError: failure !== undefined };
  });
}

/** One JSON action: use a tool, hand over, or answer. */
function actionFormat(request: ModelRequest, instructions: string): CallFormat | undefined {
  if (request.format?.type !== "json-schema" || request.format.name !== "action") return undefined;
  const { tool, target_agent: target } = propertiesOf(request.format.schema) as Record<string, JsonSchema | undefined>;
  const [names, agents] = [namesIn(tool), namesIn(target)];
  const tools = toolsIn(instructions).filter(({ name }) => names.includes(name));
  const { messages } = request;
  const context = messages.findLastIndex(
    (message) => message.role === "system" && messageText(message).startsWith("Context from previous steps:"),
  );
  const asked = messages.slice(0, context === -1 ? undefined : context).findLast(({ role }) => role === "user");
  const query = context === -1 ? "" : messageText(messages.at(-1));
  const { task, rounds, results } = stepsIn(context === -1 ? "" : messageText(messages[context]), query);
  const said = task ?? messageText(asked);
  const act = (action: object) =>
    JSON.stringify({ thought: "By my rules.", tool: null, target_agent: null, args: {}, answer: "", ...action });
  return {
    said,
    work: { tools, rounds, results },
    writesCalls: true,
    write(next, sentence) {
      const call = next && "calls" in next ? next.calls[0] : undefined;
      if (call) return act({ action: "use_tool", tool: call.tool, args: call.input });
      const agent = rounds.length === 0 && agents.find((each) => new RegExp(`\\b${each}\\b`, "i").test(sentence));
      const rest = agent && sentence.replace(new RegExp(`^.*?\\b${agent}\\b[\\s,:]*(?:to\\s+)?`, "i"), "");
      if (agent && rest) return act({ action: "delegate", target_agent: agent, args: { task: rest } });
      const text = next && "text" in next ? next.text : introduction(sentence, tools);
      return act({ action: "final", answer: `${text}\n\n${label}` });
    },
  };
}

/** What was done since the work was handed over, as the context tells it; the newest output stands in the query. */
function stepsIn(context: string, query: string) {
  let task: string | undefined;
  let rounds: string[] = [];
  let results: CallResult[] = [];
  for (const [, kind, content = ""] of context.matchAll(
    /^\[(\S+ step \d+|tool \S+ output)\] ([^]*?)(?=\n\[|$(?![^]))/gm,
  )) {
    const [, output] = /^tool (\S+) output$/.exec(kind!) ?? [];
    const action = output === undefined ? parsed(content) : {};
    if (output !== undefined) results.push({ name: output, content, isError: false });
    if (typeof action["tool"] === "string") rounds.push(action["tool"]);
    const given = action["args"] as { task?: unknown } | undefined;
    if (action["action"] === "delegate" && typeof given?.task === "string")
      [task, rounds, results] = [given.task, [], []];
  }
  const outputEnd = /\n\n(?=Tool `|Now continue your reasoning)/g;
  for (const { begin, inner } of closedBlocks(query, /^Tool `(\S{1,200})` output:\n/gm, () => outputEnd))
    results.push({ name: begin[1]!, content: inner, isError: false });
  return { task, rounds, results };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function namesIn(schema: JsonSchema | undefined): readonly string[] {
  const names: readonly unknown[] = Array.isArray(schema?.["enum"]) ? schema["enum"] : [];
  return names.filter((name) => typeof name === "string");
}

/** Tools as a prompt lists them in words. */
function toolsIn(prompt: string): readonly ToolSchema[] {
  const tools: { name: string; description: string; properties: Record<string, JsonSchema>; required: string[] }[] = [];
  for (const line of prompt.split("\n")) {
    const [, name, description = ""] = /^([a-z][\w.-]*): (.+)$/.exec(line) ?? [];
    if (name !== undefined) tools.push({ name, description, properties: {}, required: [] });
    const [, key, kind = ""] = /^ {2}- ([\w.-]+) \((.+?)\)(?:$|: )/.exec(line) ?? [];
    const tool = tools.at(-1);
    if (!tool || key === undefined) continue;
    tool.properties[key] = schemaOf(kind.replace(/, optional$/, ""));
    if (!kind.endsWith(", optional")) tool.required.push(key);
  }
  return tools.map(({ name, description, ...rest }) => ({
    name,
    description,
    parameters: { type: "object", ...rest },
  }));
}

function schemaOf(kind: string): JsonSchema {
  if (kind.startsWith('"')) return { enum: Object.values(parsed(`[${kind.replaceAll(" | ", ",")}]`)) };
  return kind.startsWith("{") ? parsed(kind) : { type: kind };
}

/** What was called since a person last spoke, and what came of it. */
export function callsSinceUser(messages: readonly ModelMessage[]): Pick<DemoRequest, "rounds" | "results"> {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return {
    rounds: since.flatMap((message) =>
      message.role === "assistant" && message.calls?.length ? [message.calls[0]!.name] : [],
    ),
    results: since.flatMap((message) =>
      message.role === "tool"
        ? [{ name: message.name, content: message.content, isError: message.isError ?? false }]
        : [],
    ),
  };
}

export function messageText(message: ModelMessage | undefined): string {
  if (message === undefined) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

const lines = /^\[@[^\]\s]+\]: ([^]*?)(?=\n\[@[^\]\s]+\]: |$(?![^]))/gm;

/** In a room it follows what was said last by anybody but a demo, and where it can't, says so in one line without quoting. */
export function roomFormat(request: ModelRequest): CallFormat | string | undefined {
  const { messages, tools = [], toolChoice } = request;
  if (!/^\[@[^\]\s]+\]: /.test(messageText(messages.findLast(({ role }) => role === "user")))) return undefined;
  // What it has answered is not done again.
  const answered = messages.findLastIndex((message) => message.role === "assistant" && !message.calls?.length);
  const heard = messages
    .slice(answered + 1)
    .flatMap((message) => (message.role === "user" ? [messageText(message)] : []));
  const said = [...heard.join("\n").matchAll(lines)].findLast(([line]) => !line.includes(label))?.[1];
  if (said === undefined) return "[pass]";
  const work = { tools: toolChoice === "none" ? [] : tools, ...callsSinceUser(messages) };
  return {
    // Who is spoken to is no part of the wish.
    said: said.replaceAll(/@[\w.-]+[,:]?/g, ""),
    work,
    writesCalls: false,
    write: (next) => `${next && "text" in next ? next.text : shortIntroduction(work.tools)} ${label}`,
  };
}
