import { useState } from "react";
import { createStoredChoice } from "../browser/stored-choice.ts";
import { personal } from "../page/person.ts";

export type MinutesDraft = {
  readonly project: string;
  readonly sprint: string;
  readonly minutes: string;
  readonly instructions: string;
};

export const emptyDraft: MinutesDraft = { project: "", sprint: "", minutes: "", instructions: "" };
const store = createStoredChoice(`${personal}taiga-draft`);
/** Of what the server takes, less what is written around it. */
export const maxCharacters = 180_000;

export function keepDraft(draft: MinutesDraft): void {
  store.set(JSON.stringify(draft));
}

/** What is being written, kept in this browser over reloads, until somebody else logs in. */
export function useDraft(): readonly [MinutesDraft, (change: Partial<MinutesDraft>) => void] {
  const [draft, setDraft] = useState(readDraft);
  return [
    draft,
    (change) =>
      setDraft((before) => {
        const now = { ...before, ...change };
        keepDraft(now);
        return now;
      }),
  ];
}

function readDraft(): MinutesDraft {
  try {
    return { ...emptyDraft, ...(JSON.parse(store.get()) as Partial<MinutesDraft>) };
  } catch {
    return emptyDraft;
  }
}

const divider = "\n\n---\n";

/** What the agent is told: the minutes, then what is asked of them. */
export function promptOf({ minutes, instructions }: MinutesDraft, ask: string): string {
  return [minutes.trim(), [instructions.trim(), ask].filter(Boolean).join("\n")].join(divider);
}

/** And back. */
export function partsOf(prompt: string): Pick<MinutesDraft, "minutes" | "instructions"> {
  const at = prompt.lastIndexOf(divider);
  if (at === -1) return { minutes: prompt, instructions: "" };
  const asked = prompt.slice(at + divider.length).split("\n");
  return { minutes: prompt.slice(0, at), instructions: asked.slice(0, -1).join("\n") };
}
