import type { Item } from "../../../protocol/items.ts";
import type { Started } from "../../../run/runs.ts";
import type { StreamEvent } from "./stream-events.ts";

/** A stream: what it tells at once, and the run that it tells then; without one it ends there. */
export type Begun = {
  readonly first: readonly StreamEvent[];
  readonly run?: Pick<Started, "runId" | "threadId" | "cursor" | "pending"> & {
    /** Its message comes first. */
    readonly beginning: boolean;
    /** What the client has seen of it. */
    readonly known?: readonly Item[];
  };
};
