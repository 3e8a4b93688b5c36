import { callIdOf, textOf, type Item, type ItemOf } from "../../protocol/threads/items.ts";
import type { ModelCall, ModelMessage } from "../../protocol/agents/models.ts";
import { contentWithFiles } from "./attached-files.ts";
import { estimate, tokensOf, tokensOfMessages } from "./estimate-tokens.ts";
import { callKey } from "./fold.ts";

/** Messages that stay or go together: one of a person, or an answer with its calls and their results. */
export type MessageBlock = {
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  readonly run: string | null;
  /** Whether it is a person's message to a run. */
  readonly input: boolean;
  /** Its place among the others: what was said while an answer was being written comes after it. */
  readonly at: number;
};

export function isPersons(block: MessageBlock): boolean {
  return block.messages[0]!.role === "user";
}

export function tokensOfBlocks(blocks: readonly MessageBlock[]): number {
  return blocks.reduce((sum, block) => sum + block.tokens, 0);
}

/** Estimates the tokens of messages, including their calls. */
export function tokensOfTold(messages: readonly ModelMessage[]): number {
  const ofCalls = (message: ModelMessage) =>
    message.role === "assistant"
      ? (message.calls ?? []).reduce((sum, call) => sum + estimate(call.arguments) + 4, 0)
      : 0;
  return tokensOfMessages(messages) + messages.reduce((sum, message) => sum + ofCalls(message), 0);
}

/** In the order in which they are told. */
export function blocksOf(items: readonly Item[]): MessageBlock[] {
  const results = new Map<string, ItemOf<"result">>();
  const calls = Map.groupBy(
    items.filter((item): item is ItemOf<"call"> => item.kind === "call"),
    stepKey,
  );
  for (const item of items) if (item.kind === "result") results.set(`${item.runId} ${callKey(item)}`, item);

  const blocks: MessageBlock[] = [];
  const done = new Set<string>();
  for (const item of items) {
    if (item.kind === "message" && item.body.role === "user") {
      const message: ModelMessage = { role: "user", content: contentWithFiles(item.body) };
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
): Omit<MessageBlock, "at"> | undefined {
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
  // Text in the strategy's protocol was for the strategy only.
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
