import { z } from "zod";
import { definitionSources } from "../../protocol/definitions.ts";
import { type Entry, type EntryState, isReadOnly } from "./resolve.ts";
import { shownDefinition } from "./secrets.ts";

const time = z.string().describe("ISO 8601");
const states = ["active", "shadowed", "refused"] as const satisfies readonly EntryState[];

export const problemSchema = z.object({
  path: z.string().describe("In the definition; empty: the whole"),
  message: z.string(),
});

/** What all kinds have. */
export const entrySchema = z.object({
  id: z.string(),
  source: z.enum(definitionSources),
  where: z.string().nullable().describe("The variable, or the file and its line"),
  readOnly: z.boolean().describe("Set from outside: to be changed where it is set"),
  state: z
    .enum(states)
    .describe("shadowed: something stronger defines this id. refused: it can't be right. `problems` says why"),
  problems: z.array(problemSchema),
  revision: z.string().nullable().describe("Of an entry of the database: goes with each change of it"),
  createdBy: z.string().nullable(),
  createdAt: time.nullable(),
  changedBy: z.string().nullable(),
  updatedAt: time.nullable(),
  definition: z
    .unknown()
    .describe("As it would stand in a file. Secrets are ***, which sent back leaves them as they are"),
  secrets: z.array(z.string()).describe("Which secrets are set, by their paths"),
});
export type EntryView = z.infer<typeof entrySchema>;

export function entryView(entry: Entry): EntryView {
  const { id, kind, place, state, problems, stored } = entry;
  return {
    id,
    source: place.source,
    where: place.where,
    readOnly: isReadOnly(entry),
    state,
    problems: [...problems],
    revision: stored?.revision ?? null,
    createdBy: stored?.createdBy ?? null,
    createdAt: stored?.createdAt.toISOString() ?? null,
    changedBy: stored?.changedBy ?? null,
    updatedAt: stored?.updatedAt.toISOString() ?? null,
    ...shown(kind, entry.definition),
  };
}

/** Of what can't be opened nothing is shown. */
function shown(kind: Entry["kind"], written: unknown): Pick<EntryView, "definition" | "secrets"> {
  const { definition, secrets } = shownDefinition(kind, written ?? null);
  return { definition, secrets: [...secrets] };
}
