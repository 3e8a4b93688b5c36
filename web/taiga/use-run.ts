import { useEffect, useState } from "react";
import { textOf } from "../../src/protocol/threads/items.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { client, reasonOf } from "../page/server.ts";
import { follow } from "../stream/follow.ts";
import { type MinutesDraft, partsOf } from "./draft.ts";
import { afterEvent, beginning, type RunState } from "./run-fold.ts";

export type RunProgress = {
  readonly run: RunState;
  /** With what it was begun; undefined until it is known. */
  readonly about: (MinutesDraft & { readonly projectName: string }) | undefined;
  readonly problem: string | undefined;
};

/** A run from its beginning, and on to its end, over reloads and lost connections. */
export function useRun(id: string): RunProgress {
  const [shown, setShown] = useState<RunProgress>({ run: beginning, about: undefined, problem: undefined });
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let run = beginning;
    let isScheduled = false;
    const show = () => {
      isScheduled = false;
      if (!signal.aborted) setShown((before) => ({ ...before, run }));
    };
    const fail = (error: unknown) => {
      if (!signal.aborted) setShown((before) => ({ ...before, problem: reasonOf(error) }));
    };
    const listen = async () => {
      const { threadId } = await client.run(id, signal);
      const items = await client.items(threadId, { limit: 5 }, signal);
      const message = items.find((item) => item.kind === "message" && item.body.role === "user");
      const about = message?.kind === "message" ? aboutIn(textOf(message.body.content)) : undefined;
      if (!signal.aborted) setShown((before) => ({ ...before, about }));
      for await (const { event } of follow<RunEvent>({ of: "run", id }, { signal })) {
        run = afterEvent(run, event);
        // At most once in a moment, however fast they come.
        if (!isScheduled) setTimeout(show, 16);
        isScheduled = true;
      }
    };
    listen().catch(fail);
    return () => stop.abort();
  }, [id]);
  return shown;
}

/** As `POST /agent/run` writes the message of a run. */
function aboutIn(text: string): RunProgress["about"] {
  const found = /^Project: (.*) \(([^()\n]*)\)\n(?:Sprint: (.*)\n)?\n([\s\S]*)$/.exec(text);
  if (!found) return undefined;
  const [, projectName = "", project = "", sprint = "", prompt = ""] = found;
  return { projectName, project, sprint, ...partsOf(prompt) };
}
