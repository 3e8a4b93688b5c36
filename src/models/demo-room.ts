import type { ModelRequest } from "../protocol/models.ts";
import { doneSince, textOf, type Format } from "./demo-formats.ts";
import { label, shortIntroduction } from "./demo-introduction.ts";

const lines = /^\[@[^\]\s]+\]: ([^]*?)(?=\n\[@[^\]\s]+\]: |$(?![^]))/gm;

/** In a room it follows what was said last by anybody but a demo, and where it can't, says so in one line without quoting. */
export function roomFormat(request: ModelRequest): Format | string | undefined {
  const { messages, tools = [], toolChoice } = request;
  if (!/^\[@[^\]\s]+\]: /.test(textOf(messages.findLast(({ role }) => role === "user")))) return undefined;
  // What it has answered is not done again.
  const answered = messages.findLastIndex((message) => message.role === "assistant" && !message.calls?.length);
  const heard = messages.slice(answered + 1).flatMap((message) => (message.role === "user" ? [textOf(message)] : []));
  const said = [...heard.join("\n").matchAll(lines)].findLast(([line]) => !line.includes(label))?.[1];
  if (said === undefined) return "[pass]";
  const work = { tools: toolChoice === "none" ? [] : tools, ...doneSince(messages) };
  return {
    // Who is spoken to is no part of the wish.
    said: said.replaceAll(/@[\w.-]+[,:]?/g, ""),
    work,
    writesCalls: false,
    write: (next) => `${next && "text" in next ? next.text : shortIntroduction(work.tools)} ${label}`,
  };
}
