import type { Resolution } from "../services.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { NewItem } from "../../protocol/threads/items.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import { decide } from "./decide.ts";
import { openQuestions } from "../log/questions.ts";
import { appendLocked, itemsOfRun, lockRun, noRun, publishItems } from "../lifecycle/locked-run.ts";
import type { Runtime } from "../contract/runtime.ts";

/**
 * Says what became of a write whose outcome is unknown. Of a run that waits for it, it answers the question, and the run
 * goes on; of one that has ended, it changes the ledger and leaves a notice in the thread: the result stays as it is.
 */
export async function resolveWrite(
  runtime: Runtime,
  caller: Caller,
  { runId, step, index, status, text }: Resolution & { readonly runId: string },
): Promise<void> {
  if (!isId(runId)) throw noRun(runId);
  const done = await runtime.database.transaction(async (query) => {
    const run = await lockRun(query, runId);
    if (!run) throw noRun(runId);
    const [write] = await query<{ tool: string; status: string }>(
      "select tool, status from ledger where run_id = $1 and step = $2 and call_index = $3",
      [runId, step, index],
    );
    if (!write) throw new NotFound(`The run has no write ${index} in step ${step}.`, { code: "write_not_found" });
    if (write.status !== "unknown")
      throw new Conflict(`The outcome of this write is known: it is ${write.status}.`, { code: "write_not_unknown" });
    if (!isEnded(run.status)) {
      const question = openQuestions(await itemsOfRun(query, runId)).find(
        (item) => item.body.reason === "unknown" && item.step === step && item.index === index,
      );
      if (run.status === "waiting" && question) return { questionId: question.id };
      throw new Conflict(`The run is ${run.status} and may still find out by itself.`, { code: "run_not_waiting" });
    }
    const isDone = status === "done";
    const known = isDone ? "it was done" : "it was not done";
    const result = { content: text ?? `A person says that ${known}.`, isError: !isDone };
    await query(
      "update ledger set status = $4, result = $5::jsonb, until = null, ended_at = now() where run_id = $1 and step = $2 and call_index = $3",
      [runId, step, index, status, jsonText(result)],
    );
    const notice: NewItem = {
      id: newId(),
      kind: "notice",
      step,
      index,
      author: caller.name,
      body: {
        code: `write_${status}`,
        values: { tool: write.tool, ...(text ? { said: text } : {}) },
        text: `The outcome of ${write.tool} was unknown when its run ended; now it is known that ${known}.${text ? ` ${text}` : ""}`,
      },
    };
    return { threadId: run.threadId, items: await appendLocked(query, run, [notice]) };
  });
  if (done.questionId !== undefined) {
    const input = { decision: status, ...(text === undefined ? {} : { text }) };
    await decide(runtime, caller, { runId, questionId: done.questionId, input });
  } else publishItems(runtime, done.threadId, done.items);
}
