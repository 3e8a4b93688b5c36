import type { StartedRun } from "../protocol/threads/run-shapes.ts";
import type { ScheduleView, ScheduleTimes } from "../protocol/threads/schedule-shapes.ts";
import type { MissedPolicy } from "../protocol/threads/schedules.ts";
import { ask, type ClientRequest, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

type ScheduleTime = {
  /** One of the two for a new schedule. */
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
  readonly missed?: MissedPolicy;
  readonly enabled?: boolean;
};
export type ScheduleInput = ScheduleTime & {
  readonly id?: string;
  readonly agent: string;
  readonly prompt: string;
  readonly threadId?: string;
};
export type SchedulePatch = ScheduleTime & { readonly agent?: string; readonly prompt?: string };

export type ScheduleClient = {
  create(input: ScheduleInput, signal?: AbortSignal): Promise<ScheduleView>;
  list(signal?: AbortSignal): Promise<readonly ScheduleView[]>;
  /** What such a time means as cron, and the first times it would be. */
  times(time: Pick<ScheduleTime, "cron" | "every" | "timeZone">, signal?: AbortSignal): Promise<ScheduleTimes>;
  get(id: string, signal?: AbortSignal): Promise<ScheduleView>;
  update(id: string, patch: SchedulePatch, signal?: AbortSignal): Promise<ScheduleView>;
  remove(id: string, signal?: AbortSignal): Promise<void>;
  /** Starts its run now; resolves to the run. */
  runNow(id: string, signal?: AbortSignal): Promise<Omit<StartedRun, "cursor">>;
};

export function createScheduleClient(server: ServerAccess): ScheduleClient {
  const send = <Answer>(path: string, asking: ClientRequest) =>
    askJson<Answer>(server, `/api/schedules${path}`, asking);
  return {
    create: (body, signal) => send("", { method: "POST", body, signal }),
    list: (signal) => askList(server, "/api/schedules", { signal }),
    times: (time, signal) => send(`/times${queryOf(time)}`, { signal }),
    get: (id, signal) => send(`/${id}`, { signal }),
    update: (id, body, signal) => send(`/${id}`, { method: "PATCH", body, signal }),
    async remove(id, signal) {
      await ask(server, `/api/schedules/${id}`, { method: "DELETE", signal });
    },
    runNow: (id, signal) => send(`/${id}/run`, { method: "POST", signal }),
  };
}
