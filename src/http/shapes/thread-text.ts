import { type Item, type ItemOf, textOf } from "../../protocol/threads/items.ts";
import { callKey, isErased, isNested } from "../../run/log/fold.ts";

/** Formats a branch as Markdown: messages, and each call with its result, collapsed. */
export function threadMarkdown(title: string, items: readonly Item[]): string {
  const results = new Map(
    items.flatMap((item) => (item.kind === "result" ? [[`${item.runId} ${callKey(item)}`, item] as const] : [])),
  );
  const parts = items.flatMap((item) => {
    if (isNested(item)) return [];
    if (item.kind === "message") return messageText(item);
    if (item.kind === "call") return callText(item, results.get(`${item.runId} ${callKey(item)}`));
    return item.kind === "notice" && !isErased(item) ? [`> ${item.body.text}`] : [];
  });
  return [`# ${title.trim() || "Conversation"}`, ...parts].join("\n\n") + "\n";
}

function messageText(item: ItemOf<"message">): string[] {
  if (isErased(item)) return ["*(erased)*"];
  const { role, content, partial, edited } = item.body;
  if (role === "system") return [];
  const images = typeof content === "string" ? 0 : content.filter(({ type }) => type === "image").length;
  const text = [
    textOf(content).trim(),
    ...(images > 0 ? [`*(${images === 1 ? "an image" : `${images} images`})*`] : []),
  ]
    .filter(Boolean)
    .join("\n\n");
  if (text === "") return [];
  return [`## ${item.author ?? role}${edited ? ` (edited by ${edited.by})` : ""}`, partial ? `${text} …` : text];
}

function callText(item: ItemOf<"call">, result: ItemOf<"result"> | undefined): string[] {
  if (isErased(item)) return [];
  const told = result && !isErased(result) ? `\n\n${fenced(result.body.content)}` : "";
  return [
    `<details>\n<summary>${item.body.name.replaceAll("<", "&lt;")}</summary>\n\n${fenced(item.body.arguments)}${told}\n\n</details>`,
  ];
}

/** Wraps a text in a fence that is longer than any inside it. */
function fenced(text: string): string {
  let longest = 2;
  for (const [ticks] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
