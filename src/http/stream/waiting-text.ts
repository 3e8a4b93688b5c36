import { decisions, type ItemOf } from "../../protocol/threads/items.ts";
import { plainArguments } from "../shapes/question-view.ts";

/** Characters of a call's arguments that are shown. */
const argumentsLimit = 300;

export type RunWait = {
  readonly run: string;
  /** The open questions, as far as they are known. */
  readonly questions: readonly ItemOf<"question">[];
  /** The run's own text about its wait. */
  readonly reason: string;
  readonly text?: string;
};

/** For a reader whose protocol has no questions: what a run waits for, and where a person answers. */
export function waitingText({ run, questions, reason, text }: RunWait): string {
  if (questions.length === 0)
    return `This run waits (${reason})${text ? `: ${text}` : "."}\nWhat it waits for: GET /api/runs/${run}`;
  return questions.map((question) => questionText(run, question)).join("\n\n");
}

function questionText(run: string, { id, body }: ItemOf<"question">): string {
  const possible = decisions[body.reason];
  const [inBody, onLine] = body.reason === "question" ? [', "text": "…"', ' --text "…"'] : ["", ""];
  const another = body.reason === "provider" ? "; model with the name of another one as text" : "";
  return [
    `This run waits for a person. ${body.text}`,
    ...(body.choices ? body.choices.map((choice) => `  - ${choice}`) : []),
    ...(body.schema ? [`  form: ${shorten(JSON.stringify(body.schema))}`] : []),
    ...(body.tool === undefined || body.arguments === undefined
      ? []
      : [`  ${body.tool} ${shorten(plainArguments(body.arguments ?? ""))}`]),
    `Answer (${possible.join(", ")}${another}): POST /api/runs/${run}/decisions/${id} {"decision": "${possible[0]}"${inBody}}`,
    `or on the command line: ./colloquy answer ${id} ${possible[0]}${onLine}`,
  ].join("\n");
}

function shorten(text: string): string {
  return text.length > argumentsLimit ? `${text.slice(0, argumentsLimit)} …` : text;
}
