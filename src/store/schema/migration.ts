import type { Query } from "../../protocol/agents/tools.ts";

/** One step from a database's past to its present; runs once, in a transaction. Never changed after its release. */
export type Migration = {
  /** Number first: names sort in the order in which they run. */
  readonly name: string;
  /** A script, or what must be computed. */
  readonly up: string | ((query: Query) => Promise<void>);
};

/** Creates in one step what the first migrations made of an empty database. Never changed after its release. */
export type Baseline = {
  /** The migrations that it stands for, in order: a database made by it has them as one that went through them. */
  readonly names: readonly string[];
  /** Asked for within the transaction that makes the tables of an empty database, so that no other start reads it. */
  readonly script: () => string;
  /** Those migrations themselves, for databases that have some of them, but not all; loaded only then. */
  readonly old: () => Promise<readonly Migration[]>;
};

/** All that a version knows of the schema: a baseline, if it has one, and what came later. */
export type SchemaHistory = {
  readonly baseline?: Baseline;
  readonly migrations: readonly Migration[];
};
