import { createHash } from "node:crypto";
import { isId, newId } from "../../protocol/ids.ts";
import { type ServedCall, toolsServerVersion } from "../../protocol/tools-server.ts";
import type { ToolContext } from "../../protocol/tools.ts";
import { relayedStep } from "./relayed-step.ts";

type CallHow = { readonly key: string; readonly signal: AbortSignal; readonly progress: (text: string) => void };

/** What a tool gets here of a call of elsewhere. Rights, approval and limits were looked at by the server that calls. */
export function contextOf(call: ServedCall, { key, signal, progress }: CallHow): ToolContext {
  const { user, run, thread, session, answers, relay } = call;
  return {
    caller: { userId: user.id, name: user.name, role: "user", permissions: ["*"], via: "system" },
    threadId: thread,
    rootThreadId: threadOfSession(session),
    runId: run,
    call: call.call,
    signal,
    idempotencyKey: key,
    query: () => Promise.reject(new Error("There are no tables here.")),
    answers: answers.map(({ decision, text, data, state }) => ({
      decision,
      ...(text === undefined ? {} : { text }),
      ...(data === undefined ? {} : { data }),
      ...(state === undefined ? {} : { state }),
    })),
    ownHeaders: () => ({}),
    step: relayedStep(relay, signal),
    progress,
  };
}

/** A call of a client that knows nothing of runs. */
export function plainCall(
  input: ServedCall["input"],
  { session, user }: { readonly session: string | undefined; readonly user: unknown },
): ServedCall {
  const name = typeof user === "string" && user !== "" ? user.slice(0, 255) : "nobody";
  return {
    version: toolsServerVersion,
    input,
    user: { id: name, name },
    run: newId(),
    thread: session ?? newId(),
    session: session ?? newId(),
    call: { step: "0", index: 0 },
    answers: [],
  };
}

/** Workspaces are named by ids of threads; any other name of a session always gives the same id. */
function threadOfSession(session: string): string {
  if (isId(session)) return session;
  const hex = createHash("sha256").update(session).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
