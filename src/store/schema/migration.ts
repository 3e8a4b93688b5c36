import type { Query } from "../../protocol/agents/tools.ts";

/** One step from a database's past to its present; runs once, in a transaction. Never changed after its release. */
export type Migration = {
  /** Number first: names sort in the order in which they run. */
  readonly name: string;
  /** A script, or what must be computed. */
  readonly up: string | ((query: Query) => Promise<void>);
};
