import { t } from "@lingui/core/macro";
import type { ListedRunView } from "../../src/protocol/threads/run-trace.ts";

type RunBeginning = Pick<ListedRunView, "text" | "place" | "agent">;

/** What a run is called: its first words or, where it has none, what began it. */
export function runTitle({ text, place, agent }: RunBeginning): string {
  if (text !== null && text.trim() !== "") return text;
  const title = place?.title.trim();
  return title ? title : t`Run of @${agent}`;
}

/** Where it began, if that was no conversation. */
export function placeText({ text, place }: RunBeginning): string | undefined {
  if (!place || place.kind === "conversation") return undefined;
  const name = place.kind === "room" ? t`Room` : t`Schedule`;
  const isTold = text === null || text.trim() === "" || place.title.trim() === "";
  return isTold ? name : `${name} · ${place.title}`;
}
