import { type MessageBody, textOf } from "../../protocol/threads/items.ts";

/** Characters of the question, and of the answer, that a title is made of. */
const [mostAsked, mostAnswered] = [1000, 900];

/** What was asked and answered first, from the messages of the first run, as text; "": nothing was said. */
export function beginningOf(messages: readonly { readonly step: string | null; readonly body: MessageBody }[]): string {
  const asked = messages.find(({ step, body }) => step === null && body.role === "user");
  const answered = messages.findLast(({ step }) => step !== null && !step.includes("/"));
  const files = (asked?.body.files ?? []).map(({ name }) => name).join(", ");
  const question = [asked ? textOf(asked.body.content) : "", files && `[${files}]`].filter(Boolean).join(" ");
  return [
    line("User", question, mostAsked),
    line("Assistant", answered ? textOf(answered.body.content) : "", mostAnswered),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Without what could end the part of the prompt that it stands in. */
function line(who: string, text: string, most: number): string {
  const plain = text.trim().replaceAll(/<(\/?)conversation>/gi, "[$1conversation]");
  if (plain === "") return "";
  return `${who}: ${plain.length <= most ? plain : `${plain.slice(0, most).toWellFormed()} …`}`;
}
