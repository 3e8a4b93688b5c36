import { type Component, Container, Markdown, type MarkdownTheme, Text } from "@earendil-works/pi-tui";
import type { ConversationBlock, BlockOf } from "../client/conversation.ts";
import { type Colours, printable } from "./colours.ts";
import { promptOf } from "./read-decision.ts";
import { callLine, endLine, isShown, planLines, resultLine, resumeLine, sourceLines, speakerOf } from "./lines.ts";
import type { ChatPlace } from "./chat-place.ts";

/** One block on the screen. */
export type BlockView = {
  readonly component: Component;
  /** False: it can't be shown as a change of what stands here, since that is text that it no longer has. */
  readonly set: (block: ConversationBlock) => boolean;
};

export function createBlockView(place: () => ChatPlace, colours: Colours): BlockView {
  const component = new Container();
  const head = new Text("", 0, 0);
  const text = new Text("", 0, 0);
  let markdown: Markdown | undefined;

  const speaker = (block: BlockOf<"message"> | BlockOf<"call">) => {
    const name = speakerOf(block, place());
    const at = place().members.findIndex(({ id }) => id === name);
    return at === -1 ? colours.bold(`[${name}]`) : colours.speaker(at, `[${name}]`);
  };
  const only = (...children: readonly Component[]) => {
    component.clear();
    for (const child of children) component.addChild(child);
  };

  function message(block: BlockOf<"message">): void {
    if (block.retry) {
      head.setText(`\n${speaker(block)}: ${colours.warn(printable(block.retry.text))}`);
      return only(head);
    }
    if (!isShown(block)) return only();
    const files = block.files.map((name) => colours.dim(`  + ${printable(name)}`));
    const mark = block.isPartial ? colours.warn(" [stopped]") : "";
    if (block.role === "user") {
      text.setText([`\n${speaker(block)}: ${printable(block.text)}${mark}`, ...files].join("\n"));
      return only(text);
    }
    head.setText(`\n${speaker(block)}:${mark}`);
    const body = printable(block.text).trim();
    if (markdown) markdown.setText(body);
    else markdown = new Markdown(body, 0, 0, markdownTheme(colours));
    only(head, markdown);
  }

  function call(block: BlockOf<"call">): void {
    const line = `\n${speaker(block)}: ${colours.dim(callLine(block))}`;
    const result = resultLine(block, false);
    const sources = sourceLines(block);
    const colour = block.result?.isError && !block.isDenied ? colours.bad : colours.dim;
    const parts = [line, ...(result === undefined ? [] : [eachLine(result, colour)])];
    if (sources !== undefined) parts.push(eachLine(sources, colours.dim));
    text.setText(parts.join("\n"));
    only(text);
  }

  function words(said: string | undefined, colour: (text: string) => string): void {
    if (said === undefined) return only();
    text.setText(`\n${eachLine(said, colour)}`);
    only(text);
  }

  function show(block: ConversationBlock): void {
    switch (block.kind) {
      case "message":
        return message(block);
      case "call":
        return call(block);
      case "plan":
        return words(planLines(block), colours.dim);
      case "question":
        return block.decision === undefined
          ? words(promptOf(block.body), colours.bold)
          : words(`${printable(block.body.text)} ${block.decision}`, colours.dim);
      case "notice":
        return words(`[System]: ${printable(block.text)}`, colours.warn);
      case "resume":
        return words(resumeLine(block), colours.dim);
      case "end":
        return words(endLine(block, place()), block.status === "failed" ? colours.bad : colours.dim);
    }
  }

  let shown = 0;
  return {
    component,
    set(block) {
      const length = block.kind === "message" ? block.text.length : 0;
      if (length < shown) return false;
      shown = length;
      show(block);
      return true;
    },
  };
}

/** A colour ends where its line does. */
function eachLine(text: string, colour: (text: string) => string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : colour(line)))
    .join("\n");
}

function markdownTheme(colours: Colours): MarkdownTheme {
  return {
    heading: colours.bold,
    link: colours.underline,
    linkUrl: colours.dim,
    code: colours.bold,
    codeBlock: (text) => text,
    codeBlockBorder: colours.dim,
    quote: colours.italic,
    quoteBorder: colours.dim,
    hr: colours.dim,
    listBullet: colours.dim,
    bold: colours.bold,
    italic: colours.italic,
    strikethrough: colours.dim,
    underline: colours.underline,
  };
}
