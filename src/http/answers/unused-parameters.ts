import { isDeepStrictEqual } from "node:util";
import type { ModelSettings } from "../../protocol/agents/models.ts";
import type { RunStart } from "../../run/runs.ts";
import type { AnswerRequest } from "./answer-request.ts";
import { isFields, type JsonFields } from "./request-values.ts";

/** What the protocols call our settings; where several names are given, the first that the body has. */
const settingNames: Readonly<Record<keyof ModelSettings, readonly string[]>> = {
  temperature: ["temperature"],
  topP: ["top_p"],
  topK: ["top_k"],
  maxTokens: ["max_completion_tokens", "max_output_tokens", "max_tokens", "num_predict"],
  stop: ["stop", "stop_sequences"],
  seed: ["seed"],
  frequencyPenalty: ["frequency_penalty"],
  presencePenalty: ["presence_penalty"],
  reasoningEffort: ["reasoning_effort", "reasoning", "thinking", "output_config", "think"],
  parallelCalls: ["parallel_tool_calls", "tool_choice"],
};

type BegunWith = NonNullable<RunStart["begunWith"]>;

/** The parameters of a request with results that its run does not take: it goes on with what it began with. */
export function unusedParameters(asked: AnswerRequest, { options, system }: BegunWith, body: unknown): string[] {
  const settings = Object.entries(settingNames).flatMap(([key, names]) => {
    const name = key as keyof ModelSettings;
    return differs(asked.settings[name], options.settings?.[name] ?? usual[name]) ? [named(body, names)] : [];
  });
  const latest = asked.messages.filter((message) => message.role === "system" && message.saidAs === undefined);
  const said = latest.map(({ content }) => content).join("\n\n");
  const { clientTools = [], limits, format, toolChoice = "auto", echo } = options;
  const tools = asked.tools?.filter(({ name }) => clientTools.some((tool) => tool.name === name));
  const others: readonly (readonly [boolean, readonly string[]])[] = [
    [differs(asked.instructions, options.instructions), ["instructions"]],
    [said !== "" && said !== system, ["system"]],
    [differs(asked.format, format), ["response_format", "output_config", "output_format", "text", "format"]],
    [differs(asked.toolChoice, toolChoice), ["tool_choice"]],
    [tools?.some((tool) => clientTools.every((known) => differs(tool, known))) === true, ["tools"]],
    [differs(asked.toolCalls, limits?.toolCalls), ["max_tool_calls"]],
    [differs(asked.onLimit, limits?.onLimit), ["metadata.on_limit"]],
    [differs(asked.echo?.["metadata"], echo?.["metadata"]), ["metadata"]],
  ];
  return [...new Set([...settings, ...others.flatMap(([isUnused, names]) => (isUnused ? [named(body, names)] : []))])];
}

/** What is said by these is what is meant without them. */
const usual: ModelSettings = { parallelCalls: true };

/** What is not given asks for nothing. */
function differs(asked: unknown, had: unknown): boolean {
  return asked !== undefined && !isDeepStrictEqual(asJson(asked), asJson(had));
}

/** As it is read again after it was kept. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function named(body: unknown, names: readonly string[]): string {
  const fields: JsonFields = isFields(body) ? body : {};
  const { options } = fields;
  const place = names.find((name) => fields[name] != null);
  if (place !== undefined) return place;
  const inner = isFields(options) ? names.find((name) => options[name] != null) : undefined;
  return inner === undefined ? names.at(-1)! : `options.${inner}`;
}
