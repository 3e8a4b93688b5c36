import type { FastifyReply } from "fastify";
import { formatCursor } from "../../protocol/threads/events.ts";
import type { StartedRun } from "../../protocol/threads/run-shapes.ts";
import type { RunStart } from "../../run/runs.ts";

/** That a run was accepted, and where to find and follow it. */
export function answerStarted(
  reply: FastifyReply,
  { runId, threadId, cursor, pending, replayed, wrote }: RunStart,
): StartedRun {
  reply
    .code(202)
    .header("location", `/api/runs/${runId}`)
    .header("x-colloquy-run", runId)
    .header("x-colloquy-thread", threadId);
  return { id: runId, threadId, cursor: formatCursor(cursor), pending, replayed, ...(wrote?.length ? { wrote } : {}) };
}
