import type { Model } from "../../protocol/agents/models.ts";
import type { RunWork } from "./work.ts";

/** The model of this name, or the one that a person chose in its place when it could not be had. Throws NotFound, Unavailable. */
export function modelFor(work: RunWork, name: string): Model {
  const chosen = chosenInstead(work, name);
  work.asked = chosen;
  return work.runtime.models.get(chosen);
}

function chosenInstead(work: RunWork, name: string): string {
  const items = work.items;
  let chosen = name;
  for (const { kind, body } of items) {
    if (kind !== "decision" || body.decision !== "model" || body.text === undefined) continue;
    const question = items.find((item) => item.kind === "question" && item.id === body.question);
    if (question?.kind === "question" && question.body.outage?.model === chosen) chosen = body.text;
  }
  return chosen;
}
