import type { ModelMessage } from "../../protocol/agents/models.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { tokensOfBlocks, tokensOfTold, type MessageBlock } from "../log/message-blocks.ts";
import { clipped, countText } from "../text/shorten.ts";

/** Tokens kept of an old result, which mainly must show that it existed. */
const leastTokens = 100;
/** A little more is clipped than is needed, so that the next prompts begin with the same words, and a provider's cache knows them. */
const atOnce = 1 / 8;
/** A message of the past that takes more than this share of the room is a long one, and clipped to less. */
const longMessage = 1 / 3;
const longClippedTo = 1 / 8;
/** One of which less would be left is left out as a whole. */
const leastOfMessage = 64;
/** Share of the room for blocks that must stay. If they need more, they are clipped, so that something of the past still fits. */
const maxOfRoom = 0.85;
const clippedTo = 0.75;
/** Part of that share for the newest results, if the message is long too. */
const ofResults = 0.5;

const tokensOfPicture = estimate([{ type: "image", url: "" }]);

/** How a model gets to see again what a call brought; undefined: it can't. */
export type RepeatHint = (name: string, given: string) => string | undefined;

export type FitOptions = {
  readonly tokens: number;
  readonly again: RepeatHint;
  readonly mustStay: (block: MessageBlock, at: number) => boolean;
  /** Clips calls and results only, never messages. */
  readonly onlyCalls?: true;
};

/** In the same order and number; `isInputClipped`: of a message that must stay not all is told. */
export type FittedBlocks = { readonly blocks: readonly MessageBlock[]; readonly isInputClipped: boolean };

/**
 * Clips what a prompt holds until it fits, if it can: the results of calls, the oldest first, then long messages of the
 * past. What `mustStay`, the message that is answered and the newest results, is clipped last, and only if it does not fit
 * by itself. Of a text its beginning and its end are kept.
 */
export function fitBlocks(
  given: readonly MessageBlock[],
  { tokens, again, mustStay, onlyCalls }: FitOptions,
): FittedBlocks {
  let excess = tokensOfBlocks(given) - tokens;
  if (excess <= 0) return { blocks: given, isInputClipped: false };
  const blocks = [...given];
  const put = (at: number, block: MessageBlock) => {
    excess -= blocks[at]!.tokens - block.tokens;
    blocks[at] = block;
  };
  const staying = given.flatMap((block, at) => (mustStay(block, at) ? [at] : []));
  const isInputClipped = fitStaying(blocks, staying, { tokens, again, put });
  excess = tokensOfBlocks(blocks) - tokens;
  const step = Math.max(1, Math.ceil(tokens * atOnce));
  const target = excess > 0 ? excess - Math.ceil(excess / step) * step : excess;
  for (const [at, block] of blocks.entries())
    if (excess > target && !staying.includes(at)) put(at, clipCalls(block, Math.min(leastTokens, tokens / 20), again));
  const most = tokens * longClippedTo;
  for (const [at, block] of onlyCalls || most < leastOfMessage ? [] : blocks.entries())
    if (excess > 0 && !staying.includes(at) && block.tokens > tokens * longMessage) put(at, clipMessage(block, most));
  return { blocks, isInputClipped };
}

type BlockFitOptions = {
  readonly tokens: number;
  readonly again: RepeatHint;
  readonly put: (at: number, block: MessageBlock) => void;
};

/** True if a message was clipped, and not only results. */
function fitStaying(
  blocks: readonly MessageBlock[],
  staying: readonly number[],
  { tokens, again, put }: BlockFitOptions,
): boolean {
  const all = () => staying.reduce((sum, at) => sum + blocks[at]!.tokens, 0);
  if (all() <= tokens * maxOfRoom) return false;
  const room = Math.max(0, tokens * clippedTo);
  const calls = staying.filter((at) => blocks[at]!.messages[0]!.role !== "user");
  const messages = staying.filter((at) => blocks[at]!.messages[0]!.role === "user");
  const sum = (of: readonly number[]) => of.reduce((total, at) => total + blocks[at]!.tokens, 0);
  for (const at of calls) {
    const share = Math.max(room - sum(messages), room * ofResults) / calls.length;
    put(
      at,
      clipTo(blocks[at]!, share, (block, most) => clipCalls(clipMessage(block, most), most, again)),
    );
  }
  // The newest of several is clipped last.
  let isClipped = false;
  for (const at of messages) {
    const others = sum(staying) - blocks[at]!.tokens;
    const share = Math.max(room - others, (room - sum(calls)) / messages.length);
    if (blocks[at]!.tokens <= share) continue;
    put(at, clipTo(blocks[at]!, share, clipMessage));
    isClipped = true;
  }
  return isClipped;
}

/** Clips each of a block's texts to the same limit, so that the longest are shortened. */
function clipTo(
  block: MessageBlock,
  tokens: number,
  clip: (block: MessageBlock, most: number) => MessageBlock,
): MessageBlock {
  let fitted = block;
  for (let most = Math.floor(tokens); fitted.tokens > tokens && most >= 4; most = Math.floor(most * 0.85))
    fitted = clip(block, most);
  return fitted;
}

/** Clips the arguments and results of calls to a number of tokens each. */
function clipCalls(block: MessageBlock, most: number, again: RepeatHint): MessageBlock {
  const given = new Map<string, string>();
  const messages = block.messages.map((message): ModelMessage => {
    if (message.role === "assistant" && message.calls) {
      for (const call of message.calls) given.set(call.id, call.arguments);
      return {
        ...message,
        calls: message.calls.map((call) => ({ ...call, arguments: clippedArguments(call.arguments, most) })),
      };
    }
    if (message.role !== "tool") return message;
    const way = again(message.name, given.get(message.callId) ?? "");
    const note = (left: number) => `[${countText(left)} left out here${way === undefined ? "" : `; ${way}`}]`;
    return { ...message, content: clipped(message.content, most, note) };
  });
  return withMessages(block, messages);
}

/** They stay JSON of the same shape, with shorter texts in it. */
function clippedArguments(text: string, most: number): string {
  if (clipped(text, most, String) === text) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return text;
    const parts = Object.entries(value).map(([name, part]): [string, unknown] => [
      name,
      typeof part === "string" ? clipped(part, most, (left) => `[${countText(left)} left out here]`) : part,
    ]);
    return JSON.stringify(Object.fromEntries(parts));
  } catch {
    return text;
  }
}

function clipMessage(block: MessageBlock, most: number): MessageBlock {
  const note = (left: number) => `[${countText(left)} of this message omitted to save space]`;
  const messages = block.messages.map((message): ModelMessage => {
    if (message.role === "assistant") return { ...message, content: clipped(message.content, most, note) };
    if (message.role !== "user") return message;
    if (typeof message.content === "string") return { ...message, content: clipped(message.content, most, note) };
    const content = message.content.map((part) =>
      part.type === "text"
        ? { ...part, text: clipped(part.text, most, note) }
        : most < tokensOfPicture
          ? { type: "text" as const, text: "[image omitted to save space]" }
          : part,
    );
    return { ...message, content };
  });
  return withMessages(block, messages);
}

function withMessages(block: MessageBlock, messages: readonly ModelMessage[]): MessageBlock {
  const tokens = tokensOfTold(messages);
  return tokens < block.tokens ? { ...block, messages, tokens } : block;
}
