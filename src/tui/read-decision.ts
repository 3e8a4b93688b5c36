import type { DecisionInput } from "../client/decisions.ts";
import type { QuestionBody } from "../protocol/threads/items.ts";
import { printable } from "./colours.ts";

/** `edit`: the arguments come back to be changed; `wrong`: what was typed is no answer, and why. */
export type DecisionReading = DecisionInput | { readonly edit: string } | { readonly wrong: string };

/** What a person is asked, and by which letters they answer. */
export function promptOf(body: QuestionBody): string {
  const { reason, text, tool, arguments: given, choices, schema } = body;
  const lines = [printable(text)];
  if (tool !== undefined) lines.push(`  ${tool} ${printable(given ?? "")}`);
  for (const choice of choices ?? []) lines.push(`  - ${printable(choice)}`);
  if (reason === "question" && schema) lines.push(`  form: ${printable(JSON.stringify(schema))}`);
  return [...lines, reason === "approval" ? `${hints.approval}${moreHints(body)}` : hints[reason]].join("\n");
}

/** What else an approval takes. */
function moreHints({ eachTime, receivers, outside }: QuestionBody): string {
  const here = receivers ? ` / always allow ${receivers.join(", ").replaceAll("mcp:", "")} [h]ere` : "";
  return `${eachTime ? "" : " / [a]lways"}${here}${outside ? " / I have [r]ead this" : ""}`;
}

const hints: Record<QuestionBody["reason"], string> = {
  approval: "allow? [y]es / [n]o <reason> / [e]dit",
  limit: "continue? [y]es / [n]o",
  unknown: "was it done? done / failed / retry",
  question: "your answer (- to decline)",
  provider: "retry [n]ow / model <name of another> / [e]nd",
};

/** Undefined: it is no answer to this question, but something to say. */
export function readAnswer(body: QuestionBody, text: string): DecisionReading | undefined {
  const [word = "", ...rest] = text.trim().split(/\s+/);
  const letter = word.toLowerCase();
  switch (body.reason) {
    case "approval":
      return readApproval(body, letter, rest.join(" "));
    case "limit":
      if (isWord(letter, "yes")) return { decision: "continue" };
      return isWord(letter, "no") ? { decision: "stop" } : undefined;
    case "unknown":
      return letter === "done" || letter === "failed" || letter === "retry"
        ? { decision: letter, ...reasonField(rest.join(" ")) }
        : undefined;
    case "provider":
      if (isWord(letter, "now") || letter === "retry") return { decision: "retry" };
      if (letter === "model")
        return rest.length > 0 ? { decision: "model", text: rest.join(" ") } : { wrong: "Enter model and a name." };
      return isWord(letter, "end") || letter === "stop" ? { decision: "stop" } : undefined;
    case "question":
      if (text.trim() === "-") return { decision: "decline" };
      if (!body.schema) return { decision: "answer", text };
      return isJson(text) ? { decision: "answer", arguments: text } : { wrong: "Enter JSON, or - to decline." };
  }
}

/** The arguments as a person changed them. */
export function readEdited({ argumentsHash }: QuestionBody, text: string): DecisionReading {
  if (!isJson(text)) return { wrong: "This is not valid JSON." };
  return { decision: "allow", arguments: text, ...(argumentsHash === undefined ? {} : { argumentsHash }) };
}

function readApproval(
  { arguments: given = "", argumentsHash, eachTime, receivers, outside }: QuestionBody,
  letter: string,
  rest: string,
): DecisionReading | undefined {
  const seen = argumentsHash === undefined ? {} : { argumentsHash };
  if (isWord(letter, "no")) return { decision: "deny", ...reasonField(rest) };
  if (rest !== "") return undefined;
  if (isWord(letter, "yes")) return { decision: "allow", ...seen };
  if (isWord(letter, "always"))
    return eachTime ? { wrong: "This is asked every time." } : { decision: "allow", always: true, ...seen };
  if (receivers && isWord(letter, "here")) return { decision: "allow", here: true, ...seen };
  if (outside && isWord(letter, "read")) return { decision: "allow", read: true, ...seen };
  return isWord(letter, "edit") ? { edit: given } : undefined;
}

function isWord(typed: string, word: string): boolean {
  return typed === word || typed === word[0];
}

function reasonField(text: string): { text?: string } {
  return text === "" ? {} : { text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
