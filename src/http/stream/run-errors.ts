import { ColloquyError } from "../../protocol/base/errors.ts";
import type { RunError } from "../../protocol/threads/runs.ts";

/** The run's own error as that of a request; the message names the run, which can still be looked at. */
export function runFailed(run: string, error: RunError | undefined): ColloquyError {
  const { code, message, ...more } = error ?? { code: "failed", message: "no reason was recorded" };
  return new ColloquyError(
    code === "model_context" ? "context_length_exceeded" : code,
    statusOf(code),
    `Run ${run} failed: ${message}`,
    retryOf(more),
  );
}

/** Returns the error to report for a run that waits for its provider, as if it had ended. */
export function outageOf({
  text,
  error,
}: {
  readonly text?: string | undefined;
  readonly error?: RunError | undefined;
}): RunError {
  return error ?? { code: "model_unavailable", message: text ?? "no model could be had" };
}

/** For whoever holds a connection: the provider's error now, though the run goes on when it can. */
export function runAwaitsModel(run: string, waits: Parameters<typeof outageOf>[0]): ColloquyError {
  const { code, message, ...more } = outageOf(waits);
  return new ColloquyError(
    code,
    statusOf(code),
    `Run ${run} waits: ${message.replace(/\.?$/, ".")} What for, and whether a person must decide, is at /api/runs/${run}; its answer will be at /api/runs/${run}/events.`,
    retryOf(more),
  );
}

/** Whoever hears of it later has less to wait. */
function retryOf({ retryAt }: Pick<RunError, "retryAt">): { readonly retryAfterSeconds?: number } {
  const seconds = retryAt === undefined ? 0 : Math.ceil((Date.parse(retryAt) - Date.now()) / 1000);
  return seconds > 0 ? { retryAfterSeconds: seconds } : {};
}

/** With its occasion, if it was not just stopped: a limit at which a person did not let it go on. */
export function runCancelled(run: string, occasion?: { readonly message: string }): ColloquyError {
  return new ColloquyError("run_cancelled", 409, `Run ${run} was cancelled${occasion ? `: ${occasion.message}` : "."}`);
}

/** An attempt was cut off after its text was sent, and the next one says something else. */
export function textWithdrawn(run: string): ColloquyError {
  return new ColloquyError(
    "text_withdrawn",
    502,
    `Run ${run} had to restart its answer; read the new one at /api/runs/${run}/events.`,
  );
}

export function serverStops(run: string): ColloquyError {
  return new ColloquyError(
    "server_stops",
    503,
    `The server is stopping. Run ${run} continues; follow it at /api/runs/${run}/events.`,
  );
}

function statusOf(code: string): number {
  if (code === "model_context" || code === "model_refused") return 400;
  if (code === "format_invalid") return 422;
  if (code === "model_rate_limit" || code === "budget_reached" || code === "limit_budget") return 429;
  if (code.startsWith("limit_")) return 422;
  if (code === "model_overloaded" || code === "model_unavailable") return 503;
  if (code === "model_timeout") return 504;
  return code.startsWith("model_") ? 502 : 500;
}
