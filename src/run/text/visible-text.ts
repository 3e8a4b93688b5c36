import { closedBlocks, withoutPieces } from "../../protocol/base/closed-blocks.ts";

/** A model's answer and its thoughts; `call`: it used its own wire format to call a tool. */
export type VisibleText = {
  readonly text: string;
  readonly thinking: string;
  readonly call?: { readonly name: string; readonly arguments: string };
};

const tag = "(think|thinking|thought|reasoning)";
const beginning = new RegExp(`(?<=^|\\n)[ \\t]*<${tag}>`, "gi");
const closingTag = new RegExp(`</${tag}>`, "i");
const openingTag = new RegExp(`^\\s*<${tag}>`, "i");

/**
 * Takes out what servers leave in an answer when they don't know the model: `<think>` blocks (also without their opening
 * tag, which some templates put into the prompt) and the channel marks of OpenAI's harmony format. Tags in the middle of
 * a line stay: they are content.
 */
export function visibleText(text: string): VisibleText {
  const channels = harmonyText(text);
  if (channels) return channels;
  const thoughts: string[] = [];
  const closed = closedBlocks(text, beginning, ([, name]) => new RegExp(`</${name}>`, "gi"));
  thoughts.push(...closed.map(({ inner }) => inner));
  const spoken = withoutPieces(text, closed);
  const closing = closingTag.exec(spoken);
  const opening = openingTag.exec(spoken);
  if (closing && !opening && !/^\s*(?:[[{]|```)/.test(spoken)) {
    thoughts.push(spoken.slice(0, closing.index));
    return visible(spoken.slice(closing.index + closing[0].length), thoughts);
  }
  // A thought that never ends: nothing was said aloud.
  if (opening) return visible("", [...thoughts, spoken.slice(opening[0].length)]);
  return visible(spoken, thoughts);
}

function visible(text: string, thoughts: readonly string[]): VisibleText {
  return { text: text.trim(), thinking: thoughts.map((thought) => thought.trim()).join("\n") };
}

const message =
  /<\|channel\|>([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>([^]*?)(?=<\|(?:end|call|return|start|channel)\|>|$)/g;
const mark = /<\|(?:start|end|call|return|message|channel|constrain)\|>/g;

function harmonyText(text: string): VisibleText | undefined {
  if (!/<\|channel\|>|\bto=functions\.|^\s*(?:assistant)?analysis/.test(text)) return undefined;
  const said: { readonly header: string; readonly body: string }[] = [];
  for (const { index, 1: channel = "", 2: body = "" } of text.matchAll(message)) {
    const before = text
      .slice(Math.max(0, index - 80), index)
      .split(/[<>]/)
      .at(-1)!;
    said.push({ header: `${before} ${channel}`, body });
  }
  // The same with its marks already taken out by the server: `commentary to=functions.read_file json{…}`.
  const bare = /\bto=functions\.([\w.-]{1,80})[^{]{0,80}(\{[^]*)$/.exec(said.length === 0 ? text : "");
  if (bare) return { text: "", thinking: "", call: { name: bare[1]!, arguments: bare[2]!.replace(mark, "").trim() } };
  const unmarked = /^\s*(?:assistant)?analysis([^]*?)assistantfinal([^]*)$/.exec(text);
  if (unmarked) return visible(unmarked[2]!, [unmarked[1]!]);
  if (said.length === 0) return undefined;
  const thinking = said.filter(({ header }) => /\banalysis\b/.test(header) && !recipientOf(header));
  const call = said.find(({ header }) => recipientOf(header));
  const aloud = said.filter((each) => !thinking.includes(each) && each !== call);
  const spoken = visible(
    aloud.map(({ body }) => body.replace(mark, "").trim()).join("\n"),
    thinking.map(({ body }) => body),
  );
  return call ? { ...spoken, call: { name: recipientOf(call.header)!, arguments: call.body.trim() } } : spoken;
}

function recipientOf(header: string): string | undefined {
  return /\bto=functions\.([\w.-]+)/.exec(header)?.[1];
}
