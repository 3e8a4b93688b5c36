import { useEffect, useState } from "react";
import { type ConversationBlock, type BlockOf, createConversation, childRunOf } from "../../src/client/conversation.ts";

import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { reasonOf, server } from "../page/server.ts";
import { follow } from "../stream/follow.ts";

type ChildRun = {
  readonly blocks: readonly ConversationBlock[];
  readonly problem: string | undefined;
  readonly reload: () => void;
};

/** At most so often is shown what is new. */
const showMs = 100;

/** What a run below another one says and does, followed while it is shown. */
export function useChildRun(id: string): ChildRun {
  const [state, setState] = useState<{ blocks: readonly ConversationBlock[]; problem?: string }>({ blocks: [] });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const conversation = createConversation();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      setState({ blocks: [...conversation.blocks()] });
    };
    const listen = async () => {
      for await (const { event } of follow<RunEvent>({ of: "run", id }, { signal: stop.signal })) {
        conversation.apply(event);
        timer ??= setTimeout(show, showMs);
      }
    };
    listen().catch((error: unknown) => {
      if (!stop.signal.aborted) setState(({ blocks }) => ({ blocks, problem: reasonOf(error) }));
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id, round]);
  return { blocks: state.blocks, problem: state.problem, reload: () => setRound(round + 1) };
}

/** The run that a call stands for: its result names it, and what it says while it works; else the server is asked. */
export function useFindChild(call: BlockOf<"call">, known: string | undefined): string | undefined {
  const [found, setFound] = useState<string>();
  const { run, place, output } = call;
  const told = known ?? /\bin run ([0-9a-f-]{36})\b/.exec(output)?.[1];
  const isTold = told !== undefined;
  useEffect(() => {
    if (isTold || run === undefined) return undefined;
    const stop = new AbortController();
    childRunOf(server, { run, place, signal: stop.signal }).then(setFound, () => undefined);
    return () => stop.abort();
  }, [isTold, run, place]);
  return told ?? found;
}

/** The same agent has the same colour everywhere below a conversation; the first is its own agent's. */
export function speakerOf(agent: string): number {
  let sum = 0;
  for (const letter of agent) sum = (sum * 31 + letter.codePointAt(0)!) % 7919;
  return 1 + (sum % 7);
}
