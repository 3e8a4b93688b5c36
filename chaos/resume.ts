import { ColloquyError } from "../src/protocol/base/errors.ts";
import { askAny } from "./cluster.ts";
import type { Person } from "./person.ts";

/** Most runs that were stopped or failed go on in place. From where to follow them; undefined: it stays as it ended. */
export async function resumeEnded(
  { nodes, random, signal }: Person,
  submission: { readonly runId: string; resumed: number },
): Promise<string | undefined> {
  const { runId: id } = submission;
  const { status } = await askAny(nodes, random, { ask: (client, within) => client.run(id, within), signal });
  if ((status !== "cancelled" && status !== "failed") || random.chance(0.2)) return undefined;
  try {
    const ask = (client: (typeof nodes)[number]["client"], within: AbortSignal) => client.resume(id, undefined, within);
    const { cursor } = await askAny(nodes, random, { ask, signal });
    submission.resumed++;
    return cursor;
  } catch (error) {
    if (!(error instanceof ColloquyError) || error.status !== 409) throw error;
    // Its thread has another run by now, or it was stopped before it began.
    if (error.code !== "run_live" && error.code !== "run_done") return undefined;
    // Resumed by an answer that got lost.
    submission.resumed++;
    return "0";
  }
}
