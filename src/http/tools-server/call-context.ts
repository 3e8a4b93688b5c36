import { createHash } from "node:crypto";
import { isId, newId } from "../../protocol/base/ids.ts";
import { type ServedCall, toolsServerVersion } from "../../protocol/agents/tools-server.ts";
import type { ToolContext } from "../../protocol/agents/tools.ts";
import { createModels } from "../../models/registry.ts";
import { Unavailable } from "../../protocol/base/errors.ts";
import { callIdOf } from "../../protocol/threads/items.ts";
import { emptyAnswer, readAnswer } from "../../run/step/read-answer.ts";

type ContextOptions = { readonly key: string; readonly signal: AbortSignal; readonly progress: (text: string) => void };

/** Makes the context of another server's call. That server has checked rights, approval and limits. */
export function contextOf(call: ServedCall, { key, signal, progress }: ContextOptions): ToolContext {
  const { user, run, thread, session, answers, relay } = call;
  return {
    caller: { userId: user.id, name: user.name, role: "user", permissions: ["*"], via: "system" },
    threadId: thread,
    rootThreadId: threadOfSession(session),
    runId: run,
    call: call.call,
    signal,
    idempotencyKey: key,
    query: () => Promise.reject(new Error("Tools servers have no tables.")),
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
export function callWithoutRun(
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

/** The other side answers only when the whole of a model's answer is there, and in its own time. */
const longestMs = 600_000;

/** Steps of a run that lives elsewhere: each goes to that server's relay, which counts and records it. */
function relayedStep(relay: ServedCall["relay"], signal: AbortSignal): ToolContext["step"] {
  return async (request, stop) => {
    if (!relay)
      throw new Unavailable(
        "No model can be asked from here: the server that calls can't be reached back. Its server.publicUrl says where it is.",
        { code: "no_relay" },
      );
    const models = createModels({
      models: [
        {
          id: "relay",
          provider: "openai",
          baseUrl: relay.url,
          apiKey: relay.token,
          model: "colloquy",
          contextTokens: 10_000_000,
        },
      ],
      timeouts: { firstPartMs: longestMs, idleMs: longestMs },
      // What came too late was a step all the same.
      retries: 0,
    });
    try {
      const answer = emptyAnswer();
      const { model: _model, ...asked } = request;
      const both = stop ? AbortSignal.any([signal, stop]) : signal;
      await readAnswer(models.get("relay"), asked, { signal: both, answer, tell: () => {} });
      const { text, calls, finish = "other", usage, model } = answer;
      return {
        text,
        calls: calls.map((call) => ({ id: callIdOf(newId()), ...call })),
        finish,
        ...(usage ? { usage } : {}),
        model,
      };
    } finally {
      await models.close();
    }
  };
}
