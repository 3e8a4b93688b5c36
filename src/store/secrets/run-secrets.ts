import type { Query } from "../../protocol/agents/tools.ts";
import { seal, unseal } from "./seal.ts";

/**
 * Stores secrets that a caller passed for the duration of a run (a token for another system), sealed. A row is made with its run, in one
 * transaction; the database removes it with the run's end. Whichever process takes the run up finds it.
 */
export type RunSecretPlace = { readonly runId: string; readonly name: string };

export function sealForRun(secret: string, { runId, name }: RunSecretPlace, text: string): string {
  return seal(secret, text, `run ${runId} ${name}`);
}

/** Undefined: there is none, or none any more. */
export async function readRunSecret(
  query: Query,
  secret: string,
  { runId, name }: RunSecretPlace,
): Promise<string | undefined> {
  const [row] = await query<{ sealed: string }>("select sealed from run_secrets where run_id = $1 and name = $2", [
    runId,
    name,
  ]);
  return row && unseal(secret, row.sealed, `run ${runId} ${name}`);
}

/** In place of the one that is there: a token that was renewed. Of a run that has ended nothing is kept. */
export async function replaceRunSecret(
  query: Query,
  secret: string,
  { runId, name, text }: RunSecretPlace & { readonly text: string },
): Promise<void> {
  await query("update run_secrets set sealed = $3 where run_id = $1 and name = $2", [
    runId,
    name,
    sealForRun(secret, { runId, name }, text),
  ]);
}
