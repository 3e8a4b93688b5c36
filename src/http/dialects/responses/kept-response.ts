import { NotFound } from "../../../protocol/base/errors.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import type { Item, ItemOf } from "../../../protocol/threads/items.ts";
import { itemIdOfCall } from "../../../protocol/threads/items.ts";
import { isEnded } from "../../../protocol/threads/runs.ts";
import type { RunRecord } from "../../../protocol/threads/run-shapes.ts";
import { collectAnswer, type ToldRun } from "../../answers/ask-agent.ts";
import { isFields, type JsonFields } from "../../answers/request-values.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { noResponse, placeOfResponse, responseId, type ResponsePlace } from "./ids.ts";
import { keptHead, responseWire } from "./wire.ts";

type CallerCall = Pick<EndpointCall, "services" | "caller">;

/** A response that was kept: its run, where it begins, and what its request asked for. */
export type KeptResponse = ResponsePlace & {
  readonly id: string;
  readonly run: RunRecord;
  readonly model: string;
  readonly echo: JsonFields;
  readonly told: Omit<ToldRun, "stream">;
};

/** Throws NotFound for one that is not the caller's. */
export async function findResponse(call: CallerCall, id: string, param = "id"): Promise<KeptResponse> {
  const { services, caller } = call;
  const place = placeOfResponse(id, param);
  const { runId, seq } = place;
  const run = await services.runs.get(caller, runId).catch((error: unknown) => {
    throw error instanceof NotFound ? noResponse(id, param) : error;
  });
  if (run.parentRun !== null || (await services.threads.isForgotten(caller, runId))) throw noResponse(id, param);
  const { first, lastSeq, resumedAt } = await services.runs.placeOf(caller, runId);
  if (seq > lastSeq) throw noResponse(id, param);
  const { agent, options } = await services.runs.definitionOf(caller, runId);
  const { model: asked, ...echo } = options.echo ?? {};
  const model = typeof asked === "string" ? asked : agent.id;
  return {
    ...place,
    id: responseId(place),
    run,
    model,
    echo,
    told: {
      model,
      ...(options.format && { format: options.format }),
      started: {
        runId,
        threadId: run.threadId,
        cursor: { seq, live: [] },
        pending: false,
        replayed: true,
        ...(resumedAt !== undefined && { resumedAt }),
      },
      isPatient: true,
      ...(seq >= first && { begun: await begunAt(call, run, seq) }),
    },
  };
}

/** As many items as the calls of one step and their questions may be. */
const nearby = 200;

/** What of a run had begun and not ended at this place of its thread: the turns of a room's members, and calls. */
export async function begunAt(
  { services, caller }: CallerCall,
  { id, threadId }: Pick<RunRecord, "id" | "threadId">,
  seq: number,
): Promise<readonly RunEvent[]> {
  const items = await services.threads.listItems(caller, threadId, { before: seq + 1, limit: nearby, order: "desc" });
  const turns = items.flatMap(({ kind, body, runId, seq: at }) =>
    kind === "state" && body.type === "turn" && body.rootRun === id && runId !== null
      ? [{ ...body, type: "turn-start" as const, seq: at, run: runId }]
      : [],
  );
  const runs = new Set<string | null>([id, ...turns.map(({ run }) => run)]);
  const own = items.filter(({ runId }) => runs.has(runId));
  const placeOf = ({ runId, step, index }: Item) => `${runId} ${step}/${index}`;
  const ended = new Set(own.flatMap((item) => (item.kind === "result" ? [placeOf(item)] : [])));
  const open = own.filter(
    (item): item is ItemOf<"call"> =>
      item.kind === "call" && item.body.target === "server" && !ended.has(placeOf(item)),
  );
  return [...turns, ...open.map((item) => ({ type: "call-start" as const, seq: item.seq, item }))];
}

/** The response as it is now. Of one at work nothing is told but that. */
export async function readResponse(call: EndpointCall, kept: KeptResponse): Promise<JsonFields> {
  const { run, told, echo, runId, seq } = kept;
  const wire = responseWire(keptHead({ runId, seq }, echo), { isKept: true });
  const waits = run.status === "waiting" && run.waitReason !== "provider";
  if (!isEnded(run.status) && !waits && !(await hasHandedOver(call, kept))) {
    const status = run.status === "queued" ? "queued" : "in_progress";
    wire.encode([{ type: "start", model: told.model, provider: "colloquy" }]);
    return wire.state(status) as JsonFields;
  }
  const { outcome } = await collectAnswer(call, { ...told, stream: false }, wire);
  return wire.response(outcome) as JsonFields;
}

/** Whether the answer came to its end by calls for the client, whatever the run has done since. */
async function hasHandedOver({ services, caller }: CallerCall, { run, seq }: KeptResponse): Promise<boolean> {
  const { threads } = services;
  for (let after = seq; ;) {
    const page = await threads.listItems(caller, run.threadId, { after, limit: nearby });
    const own = page.filter((item): item is ItemOf<"state"> => item.kind === "state" && item.runId === run.id);
    if (own.some(({ body }) => body.type === "run-wait" && body.reason === "client")) return true;
    if (page.length === 0) return false;
    after = page.at(-1)!.seq;
  }
}

/** The calls of a response that wait for the client's results. */
export function clientCallsIn(response: JsonFields): readonly string[] {
  const output = Array.isArray(response["output"]) ? response["output"].filter(isFields) : [];
  return output.flatMap(({ call_id: id }) => (typeof id === "string" && itemIdOfCall(id) !== undefined ? [id] : []));
}
