import { z } from "zod";
import { startedRunSchema } from "../../../protocol/threads/run-shapes.ts";
import {
  type ScheduleRecord,
  scheduleSchema,
  scheduleTimesSchema,
  type ScheduleView,
} from "../../../protocol/threads/schedule-shapes.ts";
import { missedPolicies } from "../../../protocol/threads/schedules.ts";
import { authorize } from "../../server/entry.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idempotencyOf } from "../../requests/run-headers.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

function publicSchedule({ userId: _userId, ...schedule }: ScheduleRecord): ScheduleView {
  return schedule;
}

const when = {
  cron: z.string().optional().describe("Minute, hour, day, month, weekday: `30 8 * * mon-fri`"),
  every: z.string().optional().describe("Instead of cron: `15m`, `6h`, `1d`, `1w`"),
  timeZone: z.string().min(1).max(64).optional().describe("Of the IANA list; UTC when absent"),
};
const time = {
  ...when,
  missed: z.enum(missedPolicies).optional().describe("Times at which no server ran: nothing (default), or one run"),
  enabled: z.boolean().optional(),
};
const prompt = z.string().min(1).max(100_000);

/** Scopes for writing in a thread, needed in addition to planning. */
const sayIn = ["threads:write", "own"] as const;

export const createSchedule = endpoint({
  needs: "schedules:write",
  tag: "schedules",
  summary: "Let an agent run a prompt at set times",
  body: z.strictObject({
    id: idSchema.optional().describe("A UUID of your own; the same one sent again answers the first."),
    agent: z.string(),
    prompt,
    threadId: idSchema.optional().describe("A thread of yours; absent: a new one"),
    ...time,
  }),
  answers: { 201: scheduleSchema },
  async handle({ body, caller, services, reply }) {
    const asks = body.threadId === undefined ? caller : authorize(caller, sayIn);
    const schedule = await services.schedules.create(asks, body);
    reply.code(201).header("location", `/api/schedules/${schedule.id}`);
    return publicSchedule(schedule);
  },
});

export const listSchedules = endpoint({
  needs: "schedules:read",
  tag: "schedules",
  summary: "List your schedules, oldest first",
  answers: { 200: listOf(scheduleSchema) },
  async handle({ caller, services }) {
    return { data: (await services.schedules.list(caller)).map(publicSchedule) };
  },
});

export const previewTimes = endpoint({
  needs: "schedules:read",
  tag: "schedules",
  summary: "When such times would be, without keeping any",
  query: z.object(when),
  answers: { 200: scheduleTimesSchema },
  handle({ query, services }) {
    const { cron, next } = services.schedules.times(query);
    return { cron, next: next.map((at) => at.toISOString()) };
  },
});

export const getSchedule = endpoint({
  needs: "schedules:read",
  tag: "schedules",
  summary: "Get a schedule",
  params: idParams,
  answers: { 200: scheduleSchema },
  async handle({ params, caller, services }) {
    return publicSchedule(await services.schedules.get(caller, params.id));
  },
});

export const updateSchedule = endpoint({
  needs: "schedules:write",
  tag: "schedules",
  summary: "Change a schedule, or switch it off and on",
  params: idParams,
  body: z.strictObject({ agent: z.string().optional(), prompt: prompt.optional(), ...time }),
  answers: { 200: scheduleSchema },
  async handle({ params, body, caller, services }) {
    return publicSchedule(await services.schedules.update(caller, params.id, body));
  },
});

export const deleteSchedule = endpoint({
  needs: "schedules:write",
  tag: "schedules",
  summary: "Delete a schedule; its thread stays",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, services, reply }) {
    await services.schedules.delete(caller, params.id);
    reply.code(204);
  },
});

export const runSchedule = endpoint({
  needs: "schedules:write",
  tag: "schedules",
  summary: "Start a schedule's run now",
  params: idParams,
  answers: {
    202: startedRunSchema.omit({ cursor: true }),
  },
  async handle({ params, caller, services, request, reply }) {
    const started = await services.schedules.runNow(authorize(caller, sayIn), params.id, idempotencyOf(request));
    const { runId, threadId, pending, replayed } = started;
    reply
      .code(202)
      .header("location", `/api/runs/${runId}`)
      .header("x-colloquy-run", runId)
      .header("x-colloquy-thread", threadId);
    return { id: runId, threadId, pending, replayed };
  },
});
