import { newId } from "../protocol/ids.ts";
import type { NewItem } from "../protocol/items.ts";
import type { RunEnd } from "./append.ts";

/** The last item of a run: its end stands in the one log, where every follower finds it. */
export function endItem(end: RunEnd): NewItem {
  return { id: newId(), kind: "state", body: { type: "run-end", ...end } };
}
