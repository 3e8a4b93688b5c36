import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem, NoticeValues } from "../../protocol/threads/items.ts";
import type { Model, ModelMessage, ModelRequest, ModelSettings, ToolSchema } from "../../protocol/agents/models.ts";
import { formatInstructions } from "../prompt/answer-format.ts";
import { estimate, roomFor, schemaTokens, tokensOfMessages, windowOf } from "../log/estimate-tokens.ts";
import { isNested, protocolText } from "../log/fold.ts";
import { tokensOfTold } from "../log/message-blocks.ts";
import { buildPrompt, type BuiltPrompt, type PromptOptions } from "../prompt/build-prompt.ts";
import type { StepOptions } from "../contract/turn.ts";
import { offeredTools, toolsDeferred, hasDeferredTools, type OfferedTools } from "./run-basis.ts";
import type { RunWork } from "./work.ts";

export type RequestOptions = StepOptions & {
  /** After all that the thread holds. */
  readonly after?: readonly ModelMessage[];
  /** Tokens of prompt and answer together; what the model and the agent say when absent. */
  readonly window?: number;
};

/** `notices`: what is told of what the model does not see whole; committed with its answer. */
export type PreparedRequest = { readonly request: ModelRequest; readonly notices: readonly NewItem[] };

const promptShortened = "prompt_shortened";

export function requestOf(work: RunWork, model: Model, options: RequestOptions): PreparedRequest {
  const { options: asked } = work.taken.definition;
  const window = windowFor(work, model, options);
  const { offered, deferred } = offeredIn(work, { model, window }, options);
  // Only an answer is held to the run's format, and many models can't call tools while they are.
  const format = options.format ?? (offered.length === 0 ? answerFormat(work, options) : undefined);
  const first = !work.items.some((item) => !isNested(item) && (item.kind === "call" || isAnswer(item)));
  // A forced choice is for the first step only: the model could never answer otherwise.
  const choice = first || asked.toolChoice === "none" ? asked.toolChoice : undefined;
  const prompt = options.messages ? undefined : buildPrompt(work.branch, promptOf(work, model, options));
  const messages = options.messages ?? [...prompt!.messages, ...(options.after ?? [])];
  const taken = tokensOfTold(messages) + schemaTokens(offered);
  const request = {
    messages,
    settings: fittingSettings(settingsIn(work, options), window - taken),
    // Never left to the provider: not all take silence for "auto".
    ...(offered.length > 0 ? { tools: offered, toolChoice: choice ?? "auto" } : {}),
    ...(format === undefined ? {} : { format }),
  };
  return { request, notices: noticesOf(work, { model, window, deferred, shortened: prompt?.shortened }) };
}

/** Not only a strategy's protocol, such as the choice of a strategy. */
function isAnswer(item: Item): boolean {
  return item.kind === "message" && item.step !== null && protocolText(item) === undefined;
}

function windowFor(work: RunWork, model: Model, { window, as }: RequestOptions): number {
  return window ?? windowOf(model, as ?? work.taken.definition.agent);
}

/** Options for building a prompt of the thread. */
export function promptOf(work: RunWork, model: Model, options: RequestOptions): PromptOptions {
  const { definition } = work.taken;
  const window = windowFor(work, model, options);
  const { offered } = offeredIn(work, { model, window }, options);
  const wanted = settingsIn(work, options).maxTokens ?? roomFor(window);
  // An answer that would leave no room for a question gets less.
  const answer = Math.min(wanted, Math.floor(window / 2));
  const room = answer + schemaTokens(offered) + tokensOfMessages(options.after ?? []);
  const format = answerFormat(work, options);
  const own = options.instructions ?? (options.as ?? definition.agent).instructions;
  const asked = definition.options.instructions ?? "";
  return {
    runId: work.owner.runId,
    instructions: [own.trim(), asked, format ? formatInstructions(format) : ""].filter(Boolean).join("\n\n"),
    tokens: window - room,
    pastMessages: options.pastMessages ?? definition.strategies?.history.messages,
    again: (name, given) => againBy(work, name, given),
    taken: takenText(model, { window, answer, offered }),
    ...(options.told ? { told: options.told } : {}),
    ...(options.then ? { then: options.then } : {}),
  };
}

const contextSources: Readonly<Record<NonNullable<Model["contextFrom"]>, string>> = {
  configured: "`contextTokens` in the configuration",
  told: "as its server says",
  assumed: "assumed, since its server does not say; set `contextTokens` of the model if it holds more",
};

/** Describes what fills the context window besides instructions and conversation. */
function takenText(
  { id, contextFrom }: Model,
  { window, answer, offered }: { window: number; answer: number; offered: readonly ToolSchema[] },
): string {
  const largest = offered.toSorted((one, other) => schemaTokens([other]) - schemaTokens([one])).slice(0, 3);
  const tools =
    offered.length === 0
      ? ""
      : ` and ${schemaTokens(offered)} for its tools, the largest of which are ${largest.map(({ name }) => name).join(", ")}`;
  const known = contextFrom === undefined ? "" : ` (${contextSources[contextFrom]})`;
  return ` of the ${window} tokens that ${id} holds${known}, with ${answer} for its answer${tools}`;
}

/** The format of the run's answer, if this step may bring it in its own words. */
function answerFormat(work: RunWork, { final, read }: StepOptions) {
  return final && !read ? work.taken.definition.options.format : undefined;
}

function settingsIn(work: RunWork, options: StepOptions): ModelSettings {
  const { options: asked, agent } = work.taken.definition;
  return { ...(options.as ?? agent).settings, ...asked.settings, ...options.settings };
}

/** A provider refuses a request whose prompt and answer together would be too long. */
function fittingSettings(settings: ModelSettings, left: number): ModelSettings {
  const { maxTokens } = settings;
  return maxTokens === undefined || maxTokens <= left || left < 1
    ? settings
    : { ...settings, maxTokens: Math.floor(left) };
}

function offeredIn(work: RunWork, { model, window }: { model: Model; window: number }, options: StepOptions) {
  const { clientTools = [] } = work.taken.definition.options;
  if (options.withoutTools) return { offered: [], deferred: [] };
  if (options.onlyClientTools) return { offered: clientTools, deferred: [] };
  const { tools, deferred } = // The demo model costs nothing, and understands no search.
    offeredTools(work, { window, isGenerous: model.demo });
  return { offered: [...tools, ...clientTools], deferred };
}

/** A read is made once more; of a write only what is left of its result is known. */
function againBy({ runtime }: RunWork, name: string, given: string): string | undefined {
  if (runtime.tools.get(name)?.effect !== "read") return undefined;
  return estimate(given) > 60
    ? `to see them, call ${name} again with the same arguments`
    : `to see them, call ${name} again with ${given}`;
}

type ModelLimits = {
  readonly model: Model;
  readonly window: number;
  readonly deferred: OfferedTools["deferred"];
  readonly shortened: BuiltPrompt["shortened"] | undefined;
};

/** Once in a run, and of what was done before it once in a thread. */
function noticesOf(work: RunWork, { model, window, deferred, shortened }: ModelLimits): NewItem[] {
  const notices: NewItem[] = [];
  const add = (code: string, text: string, values: NoticeValues) =>
    notices.push({ id: newId(), kind: "notice", body: { code, text, values } });
  const whose = { model: model.id, tokens: window };
  const isTold = (item: Item) => item.kind === "notice" && item.body.code === promptShortened;
  const known = shortened === "past" ? work.branch : work.items;
  if (shortened && !known.some(isTold))
    add(promptShortened, shortenedText(shortened, `${model.id} (${window} tokens)`), { ...whose, shortened });
  if (deferred.length > 0 && !hasDeferredTools(work.items))
    add(
      toolsDeferred,
      `${deferred.length} tools take more room than ${model.id} (${window} tokens) has for them: it searches for those that it needs.`,
      { ...whose, count: deferred.length },
    );
  return notices;
}

function shortenedText(shortened: NonNullable<BuiltPrompt["shortened"]>, model: string): string {
  if (shortened === "input") return `The message is too long for ${model}, which sees only its beginning and end.`;
  const what = shortened === "own" ? "What was done in this run" : "What tools returned earlier in this conversation";
  return `${what} takes more room than ${model} has: of the older results it sees the beginning and the end.`;
}
