import type { DecisionBody, Item, ItemOf, QuestionBody } from "../../protocol/threads/items.ts";
import type { ToolAnswer } from "../../protocol/agents/tools.ts";
import type { CallItem } from "./call-items.ts";
import { foldOf } from "./fold.ts";

/** The last question of this kind about a call. */
export function questionOn(
  items: readonly Item[],
  call: CallItem,
  reason: QuestionBody["reason"],
): ItemOf<"question"> | undefined {
  return items.findLast(
    (item): item is ItemOf<"question"> =>
      item.kind === "question" && item.body.reason === reason && item.step === call.step && item.index === call.index,
  );
}

/** Returns a person's decision on the call; undefined: not asked, or not answered. */
export function decisionOn(
  items: readonly Item[],
  call: CallItem,
  reason: QuestionBody["reason"],
): DecisionBody | undefined {
  const question = questionOn(items, call, reason);
  return items.find(
    (item): item is ItemOf<"decision"> => item.kind === "decision" && item.body.question === question?.id,
  )?.body;
}

/** Returns the answers to questions that the call itself asked, oldest first, since the last "retry". */
export function answersTo(items: readonly Item[], call: CallItem): ToolAnswer[] {
  const doubt =
    decisionOn(items, call, "unknown")?.decision === "retry" ? questionOn(items, call, "unknown") : undefined;
  return items.slice(doubt ? items.indexOf(doubt) : 0).flatMap((question) => {
    if (question.kind !== "question" || question.body.reason !== "question") return [];
    if (question.step !== call.step || question.index !== call.index) return [];
    const answer = items.find(
      (item): item is ItemOf<"decision"> => item.kind === "decision" && item.body.question === question.id,
    );
    if (!answer || answer.body.decision === "withdrawn") return [];
    const { decision, text, arguments: filled } = answer.body;
    return [
      {
        decision: decision === "answer" ? ("answer" as const) : ("decline" as const),
        ...(text === undefined ? {} : { text }),
        ...(filled === undefined ? {} : { data: JSON.parse(filled) as unknown }),
        ...(question.body.state === undefined ? {} : { state: question.body.state }),
      },
    ];
  });
}

export function openQuestions(items: readonly Item[]): ItemOf<"question">[] {
  const answered = new Set(items.map((item) => (item.kind === "decision" ? item.body.question : "")));
  return items.filter((item): item is ItemOf<"question"> => item.kind === "question" && !answered.has(item.id));
}

/** Whether a waiting run has still nothing to do: a question is open, or only the caller's own tools are left. */
export function stillWaits(items: readonly Item[]): boolean {
  if (openQuestions(items).length > 0) return true;
  const { openCalls } = foldOf(items);
  return openCalls.length > 0 && openCalls.every((call) => call.body.target === "client");
}
