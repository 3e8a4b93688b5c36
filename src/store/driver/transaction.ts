import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { TransactionOptions } from "./database.ts";

/** How one connection runs statements; `end` tells the command that PostgreSQL really did. */
export type DatabaseSession = {
  readonly query: Query;
  readonly end: (command: "commit" | "rollback") => Promise<string>;
};

/**
 * BEGIN, the body, COMMIT; ROLLBACK if the body throws or any statement in it failed and no ROLLBACK TO SAVEPOINT
 * came after it (PostgreSQL has given the transaction up by then, whether the body caught the error or not). Statements after the end are refused.
 */
export async function runTransaction<Value>(
  session: DatabaseSession,
  body: (query: Query) => Promise<Value>,
  { first }: TransactionOptions = {},
): Promise<Value> {
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  const query: Query = async <Row extends object>(text: string, values?: readonly unknown[]) => {
    if (ended) throw new ColloquyError("transaction_ended", 500, "A statement came after its transaction had ended.");
    try {
      const rows = await session.query<Row>(text, values);
      // Back at a savepoint, the transaction is as sound as it was there.
      if (/^rollback to /i.test(text)) failure = undefined;
      return rows;
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };

  try {
    await session.query(first === undefined ? "begin" : `begin; ${first}`);
    const value = await body(query);
    ended = true;
    if (failure) throw failure.error;
    const command = await session.end("commit");
    if (command !== "COMMIT")
      throw new ColloquyError("transaction_lost", 500, "The transaction was rolled back at its COMMIT.");
    return value;
  } catch (error) {
    ended = true;
    // It fails only with the connection, and then the server rolls back.
    await session.end("rollback").catch(() => {});
    throw error;
  }
}
