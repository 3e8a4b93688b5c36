import type { EntryView } from "../../protocol/agents/definitions.ts";
import { type DefinitionEntry, isReadOnly } from "../../definitions/resolve.ts";
import { shownDefinition } from "../../definitions/secrets.ts";

export function entryView(entry: DefinitionEntry): EntryView {
  const { id, kind, place, state, problems, stored } = entry;
  return {
    id,
    source: place.source,
    where: place.where,
    readOnly: isReadOnly(entry),
    state,
    problems,
    revision: stored?.revision ?? null,
    createdBy: stored?.createdBy ?? null,
    createdAt: stored?.createdAt.toISOString() ?? null,
    changedBy: stored?.changedBy ?? null,
    updatedAt: stored?.updatedAt.toISOString() ?? null,
    ...shown(kind, entry.definition),
  };
}

/** Returns the visible parts of a definition; nothing if it can't be decrypted. */
function shown(kind: DefinitionEntry["kind"], written: unknown): Pick<EntryView, "definition" | "secrets"> {
  const { definition, secrets } = shownDefinition(kind, written ?? null);
  return { definition, secrets };
}
