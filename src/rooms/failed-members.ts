import type { AgentDefinition } from "../protocol/agents/agents.ts";
import { ColloquyError, ModelError, NotFound } from "../protocol/base/errors.ts";
import type { LoggedTurn } from "./room-log.ts";

/** What another try a moment later does not mend, by code, and how it is said. */
const lasting: Readonly<Record<string, string>> = {
  model_unreachable: "is not reachable",
  model_auth: "refuses its key",
  model_not_found: "is not there",
  model_unavailable: "can't be used",
};

/** So long nobody asks it but who names it. */
const restMs = 600_000;

/** The failure of a member's model in words of the member's own configuration; anything else as it is. */
export function explainMemberFailure({ id, model }: AgentDefinition, error: unknown): unknown {
  if (!(error instanceof ColloquyError) || !error.code.startsWith("model_") || error.code === "model_aborted")
    return error;
  const isUnknown = error instanceof ModelError && error.kind === "refused" && error.upstreamStatus === 404;
  const code = isUnknown ? "model_not_found" : error.code;
  // The name of one that the room's file brings along is ours.
  const which = model.startsWith("room:") ? "" : ` ${model}`;
  const text = `@${id} can't answer: its model${which} ${lasting[code] ?? "failed"}. ${error.message}`;
  if (isUnknown) return new NotFound(text, { code, cause: error });
  if (!(error instanceof ModelError)) return new ColloquyError(code, error.status, text, { cause: error });
  const { kind, upstreamStatus, retryable, detail } = error;
  return new ModelError(kind, text, {
    cause: error,
    retryable,
    server: error.server,
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(detail.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: detail.retryAfterSeconds }),
  });
}

/** Members whose last turn failed by what lasts, a short while ago. */
export function failedMembers(turns: readonly LoggedTurn[], now: number): ReadonlySet<string> {
  const dead = new Set<string>();
  for (const { agent, outcome, error } of turns) {
    if (outcome === "open" || outcome === "waiting") continue;
    if (error && error.code in lasting && now - error.at < restMs) dead.add(agent);
    else dead.delete(agent);
  }
  return dead;
}
