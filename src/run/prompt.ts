import { ModelError } from "../protocol/errors.ts";
import { callIdOf, textOf, type Item, type ItemOf } from "../protocol/items.ts";
import type { ModelCall, ModelMessage, ToolSchema } from "../protocol/models.ts";
import { callKey, isErased, isNested } from "./fold.ts";

export type PromptOptions = {
  readonly runId: string;
  readonly instructions: string;
  /** Room for the prompt, in tokens. */
  readonly tokens: number;
  /** Comes last and is never cut. The run's own steps are left out then, and of earlier runs all but what was said. */
  readonly then?: readonly ModelMessage[];
};

/** Messages that stay or go together: one of a person, or an answer with its calls and their results. */
type Block = {
  readonly messages: ModelMessage[];
  readonly tokens: number;
  readonly run: string | null;
  readonly input: boolean;
  /** Its place among the others: what was said while an answer was being written comes after it. */
  readonly at: number;
};

const perMessage = 4;
const perImage = 1000;

/**
 * What a model sees of a branch. Too long a past is cut at whole blocks, oldest first; the instructions and the message
 * that began the run always stay. Throws ModelError `context` if these alone do not fit.
 */
export function buildPrompt(items: readonly Item[], options: PromptOptions): ModelMessage[] {
  const { then } = options;
  const shown = items.filter((item) => !isNested(item) && !isErased(item) && (!then || isSaid(item, options.runId)));
  const system = systemText(shown, options.instructions);
  const blocks = blocksOf(shown);
  let tokens = estimate(system) + tokensOfMessages(then ?? []) + blocks.reduce((sum, block) => sum + block.tokens, 0);
  const kept = new Set(blocks);
  for (const block of blocks) {
    const last = block === blocks.at(-1);
    const startsWithAnswer =
      kept.size < blocks.length && block.messages[0]!.role !== "user" && block.run !== options.runId;
    if (tokens <= options.tokens && !startsWithAnswer) break;
    if (last || (block.input && block.run === options.runId)) continue;
    kept.delete(block);
    tokens -= block.tokens;
  }
  if (tokens > options.tokens) {
    throw new ModelError(
      "context",
      `The message needs about ${tokens} tokens, but the model has room for ${Math.max(0, options.tokens)}. Shorten it, or choose a model with a larger context.`,
    );
  }
  const messages = [...blocks.filter((block) => kept.has(block)).flatMap((block) => block.messages), ...(then ?? [])];
  return system ? [{ role: "system", content: system }, ...messages] : messages;
}

/** What anybody said, without the calls between, and without what the run itself has done so far. */
function isSaid(item: Item, runId: string): boolean {
  return item.kind === "message" && (item.runId !== runId || item.step === null);
}

function tokensOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + perMessage + estimate(message.content), 0);
}

/** About how many tokens: four characters each, the usual estimate for English; images a flat rate. */
export function estimate(content: ModelMessage["content"]): number {
  if (typeof content === "string") return Math.ceil(content.length / 4);
  return content.reduce((sum, part) => sum + (part.type === "text" ? estimate(part.text) : perImage), 0);
}

export function tokensOf(item: Item): number {
  if (isErased(item)) return 0;
  if (item.kind === "message") return perMessage + estimate(item.body.content);
  if (item.kind === "call") return perMessage + estimate(item.body.arguments);
  if (item.kind === "result") return perMessage + estimate(item.body.content);
  return 0;
}

export function schemaTokens(tools: readonly ToolSchema[]): number {
  return tools.reduce((sum, tool) => sum + Math.ceil(JSON.stringify(tool).length / 4), 0);
}

/** The agent's instructions, then the latest that the caller's dialect sent. */
function systemText(items: readonly Item[], instructions: string): string {
  const caller = items.findLast(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.body.role === "system",
  );
  return [instructions.trim(), caller ? textOf(caller.body.content) : ""].filter(Boolean).join("\n\n");
}

function blocksOf(items: readonly Item[]): Block[] {
  const results = new Map<string, ItemOf<"result">>();
  const calls = Map.groupBy(
    items.filter((item): item is ItemOf<"call"> => item.kind === "call"),
    stepKey,
  );
  for (const item of items) if (item.kind === "result") results.set(`${item.runId} ${callKey(item)}`, item);

  const blocks: Block[] = [];
  const done = new Set<string>();
  for (const item of items) {
    if (item.kind === "message" && item.body.role === "user") {
      const message: ModelMessage = { role: "user", content: item.body.content };
      blocks.push({
        messages: [message],
        tokens: tokensOf(item),
        run: item.runId,
        input: item.runId !== null,
        at: item.seq,
      });
    } else if ((item.kind === "message" && item.body.role === "assistant") || item.kind === "call") {
      const key = item.step === null ? item.id : stepKey(item);
      if (done.has(key)) continue;
      done.add(key);
      const block = answerBlock(item.kind === "message" ? item : undefined, calls.get(key) ?? [], results);
      const seen = item.kind === "message" ? item.body.seen : undefined;
      if (block) blocks.push({ ...block, at: seen === undefined ? item.seq : seen + 0.5 });
    }
  }
  return blocks.toSorted((one, other) => one.at - other.at);
}

function stepKey(item: Item): string {
  return `${item.runId} ${item.step}`;
}

/** An answer with those of its calls that have a result; nothing, if nothing of it can be shown. */
function answerBlock(
  message: ItemOf<"message"> | undefined,
  calls: readonly ItemOf<"call">[],
  results: ReadonlyMap<string, ItemOf<"result">>,
): Omit<Block, "at"> | undefined {
  const pairs = calls.flatMap((call) => {
    const result = results.get(`${call.runId} ${callKey(call)}`);
    return result ? [{ call, result }] : [];
  });
  const content = message ? textOf(message.body.content) : "";
  if (!content && pairs.length === 0) return undefined;
  const asked: ModelCall[] = pairs.map(({ call }) => ({
    id: callIdOf(call.id),
    name: call.body.name,
    arguments: call.body.arguments,
  }));
  const { reasoning: thought, protocolAt, opaque } = message?.body ?? {};
  // What it wrote in its strategy's protocol was for the strategy alone.
  const reasoning = thought?.slice(0, protocolAt) || undefined;
  const messages: ModelMessage[] = [
    {
      role: "assistant",
      content,
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(opaque === undefined ? {} : { opaque }),
      ...(asked.length > 0 ? { calls: asked } : {}),
    },
    ...pairs.map(({ call, result }): ModelMessage => ({
      role: "tool",
      callId: callIdOf(call.id),
      name: call.body.name,
      content: result.body.content,
      ...(result.body.isError ? { isError: true } : {}),
    })),
  ];
  const tokens =
    (message ? tokensOf(message) : 0) +
    pairs.reduce((sum, { call, result }) => sum + tokensOf(call) + tokensOf(result), 0);
  return { messages, tokens, run: message?.runId ?? calls[0]?.runId ?? null, input: false };
}
