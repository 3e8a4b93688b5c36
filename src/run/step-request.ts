import type { Item } from "../protocol/items.ts";
import type { Model, ModelMessage, ModelRequest } from "../protocol/models.ts";
import { formatInstructions } from "./answer-format.ts";
import { roomFor, schemaTokens, tokensOfMessages } from "./estimate.ts";
import { isNested, protocolText } from "./fold.ts";
import { foundIn } from "./found-tools.ts";
import { buildPrompt, type PromptOptions } from "./prompt.ts";
import type { StepOptions } from "./turn.ts";
import type { Work } from "./work.ts";

export type RequestOptions = StepOptions & {
  /** After all that the thread holds. */
  readonly after?: readonly ModelMessage[];
};

export function requestOf(work: Work, model: Model, options: RequestOptions): ModelRequest {
  const { options: asked } = work.taken.definition;
  const { settings, offered } = offeredIn(work, options);
  // Only an answer is held to the run's format, and many models can't call tools while they are.
  const format = options.format ?? (offered.length === 0 ? answerFormat(work, options) : undefined);
  const first = !work.items().some((item) => !isNested(item) && (item.kind === "call" || isAnswer(item)));
  // A forced choice is for the first step only: the model could never answer otherwise.
  const choice = first || asked.toolChoice === "none" ? asked.toolChoice : undefined;
  return {
    messages: options.messages ?? [
      ...buildPrompt(work.branch(), promptOf(work, model, options)),
      ...(options.after ?? []),
    ],
    settings,
    // Never left to the provider: not all take silence for "auto".
    ...(offered.length > 0 ? { tools: offered, toolChoice: choice ?? "auto" } : {}),
    ...(format === undefined ? {} : { format }),
  };
}

/** Not only a strategy's protocol, such as the choice of a strategy. */
function isAnswer(item: Item): boolean {
  return item.kind === "message" && item.step !== null && protocolText(item) === undefined;
}

/** What a prompt of the thread is made with. */
export function promptOf(work: Work, model: Model, options: RequestOptions): PromptOptions {
  const { definition } = work.taken;
  const { settings, offered } = offeredIn(work, options);
  const room = (settings.maxTokens ?? roomFor(model)) + schemaTokens(offered) + tokensOfMessages(options.after ?? []);
  const format = answerFormat(work, options);
  const instructions = options.instructions ?? (options.as ?? definition.agent).instructions;
  return {
    runId: work.owner.runId,
    instructions: format ? `${instructions.trim()}\n\n${formatInstructions(format)}` : instructions,
    tokens: model.contextTokens - room,
    pastMessages: options.pastMessages ?? definition.strategies?.history.messages,
    ...(options.told ? { told: options.told } : {}),
    ...(options.then ? { then: options.then } : {}),
  };
}

/** The format of the run's answer, if this step may bring it in its own words. */
function answerFormat(work: Work, { final, read }: StepOptions) {
  return final && !read ? work.taken.definition.options.format : undefined;
}

function offeredIn(work: Work, options: StepOptions) {
  const { options: asked, agent } = work.taken.definition;
  const tools = [...work.taken.definition.tools, ...foundIn(work.taken.definition, work.branch())];
  return {
    settings: { ...(options.as ?? agent).settings, ...asked.settings, ...options.settings },
    offered: options.withoutTools ? [] : [...tools, ...(asked.clientTools ?? [])],
  };
}
