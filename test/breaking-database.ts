import { Unavailable } from "../src/protocol/base/errors.ts";
import type { Database } from "../src/store/driver/database.ts";

export type Breaks = {
  /** Whether the database has done the statement when its connection breaks. */
  readonly when: "before" | "after";
  readonly times: number;
  readonly meant: (text: string, values: readonly unknown[]) => boolean;
};

/** A database behind a connection that breaks at certain statements, those of transactions aside. */
export function breakingDatabase(real: Database, { when, times, meant }: Breaks): Database {
  let left = times;
  return {
    ...real,
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      if (!meant(text, values ?? []) || left-- <= 0) return real.query<Row>(text, values);
      if (when === "after") await real.query<Row>(text, values);
      throw new Unavailable("No connection to the database.", { code: "database_unavailable" });
    },
  };
}
