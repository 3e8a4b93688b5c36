import { z } from "zod";
import { runSchema } from "../../../protocol/threads/run-shapes.ts";
import { formatCursor } from "../../../protocol/threads/events.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { callIdOf, itemIdOfCall } from "../../../protocol/threads/items.ts";
import { isId } from "../../../protocol/base/ids.ts";
import { endpoint } from "../../server/endpoint.ts";
import { publicRun } from "../../../protocol/threads/public-views.ts";
import { idParams } from "../../shapes/schemas.ts";

const resultSchema = z.strictObject({
  call: z.string().describe("The call's item id, or its `call_…` id"),
  content: z.string(),
  isError: z.boolean().optional(),
});

export const addResults = endpoint({
  needs: ["threads:write", "own"],
  tag: "runs",
  summary: "Bring results of the tools that you run yourself",
  description:
    "For a run that waits with the reason `client`. It goes on when none of its calls is open any more. A call that has a " +
    "result keeps it; sent again, the answer is the same.",
  params: idParams,
  takesLong: true,
  body: z.strictObject({ results: z.array(resultSchema).min(1).max(1000) }),
  answers: { 200: runSchema.extend({ cursor: z.string().describe("Follow the run from here") }) },
  async handle({ params, body, caller, services }) {
    await services.runs.get(caller, params.id);
    const results = body.results.map(({ call, ...result }) => ({ ...result, callId: callIdFrom(call) }));
    const { runId, cursor } = await services.runs.bringResults(caller, results, { runId: params.id });
    return { ...publicRun(await services.runs.get(caller, runId)), cursor: formatCursor(cursor) };
  },
});

function callIdFrom(call: string): string {
  if (isId(call)) return callIdOf(call.toLowerCase());
  if (itemIdOfCall(call) === undefined)
    throw new InvalidInput(`"${call.slice(0, 100)}" is no call's id.`, { param: "results" });
  return call;
}
