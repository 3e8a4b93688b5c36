import type { Retry, RunEvent } from "../protocol/threads/events.ts";
import {
  type Decision,
  type Item,
  type ItemOf,
  type NoticeBody,
  type PlanBody,
  type QuestionBody,
  textOf,
} from "../protocol/threads/items.ts";
import type { Source } from "../protocol/knowledge/sources.ts";
import type { RunDetailsView } from "../protocol/threads/run-trace.ts";
import { askJson, type ServerAccess } from "./request.ts";

/** A block of a conversation, in the order in which blocks start. `key` stays the same while the block grows. */
export type ConversationBlock =
  | {
      readonly kind: "message";
      readonly key: string;
      readonly run: string | undefined;
      /** Agent or user; undefined until the speaker is known. */
      readonly author: string | undefined;
      readonly role: "user" | "assistant" | "system";
      readonly text: string;
      readonly reasoning: string;
      /** Still being written. */
      readonly isLive: boolean;
      /** Stopped before its end. */
      readonly isPartial: boolean;
      /** Names of files that came with it. */
      readonly files: readonly string[];
      /** Its model is unavailable and will be asked again soon. */
      readonly retry?: Retry;
      readonly item?: ItemOf<"message">;
    }
  | {
      readonly kind: "call";
      readonly key: string;
      readonly run: string | undefined;
      readonly author: string | undefined;
      readonly name: string;
      /** JSON text. */
      readonly arguments: string;
      /** Live output of the call; bounded. */
      readonly output: string;
      readonly result?: {
        readonly content: string;
        readonly isError: boolean;
        readonly outcome?: string;
        readonly sources: readonly Source[];
        /** The tool's own value. */
        readonly data?: unknown;
      };
      /** Position in its run: call `index` of the step. */
      readonly place: string;
      readonly threadId: string;
      /** When it was requested, or when a person decided its question. */
      readonly startedAt: string;
      readonly endedAt?: string;
      /** The run that made the call, if this run is a fork of it. */
      readonly kept?: string;
      /** A person denied it; the result has the reason, if one was given. */
      readonly isDenied?: true;
    }
  | { readonly kind: "plan"; readonly key: string; readonly run: string | undefined; readonly steps: PlanBody["steps"] }
  | {
      readonly kind: "question";
      readonly key: string;
      readonly run: string;
      readonly id: string;
      readonly body: QuestionBody;
      /** Key of the call it refers to, if any. */
      readonly call?: string;
      readonly decision?: Decision | "withdrawn";
      /** Allowed, but with other arguments. */
      readonly isChanged?: boolean;
    }
  | ({ readonly kind: "notice"; readonly key: string } & Omit<NoticeBody, "about">)
  /** The run had ended and was resumed. */
  | { readonly kind: "resume"; readonly key: string; readonly run: string; readonly by: string }
  | {
      readonly kind: "end";
      readonly key: string;
      readonly run: string;
      readonly author: string | undefined;
      readonly status: "done" | "failed" | "cancelled";
      readonly error?: string;
      /** Of the error: what kind it is. */
      readonly code?: string;
    };
export type BlockOf<Kind extends ConversationBlock["kind"]> = Extract<ConversationBlock, { kind: Kind }>;

export type ConversationFold = {
  readonly blocks: () => Iterable<ConversationBlock>;
  /** Live runs with their agents, in the order in which they started. */
  readonly working: () => ReadonlyMap<string, string | undefined>;
  /** Open questions. */
  readonly open: () => readonly BlockOf<"question">[];
  /** Applies an event; returns the blocks that are new or changed. */
  readonly apply: (event: RunEvent) => readonly ConversationBlock[];
  /** Adds a question from another source: one of a delegated run. */
  readonly ask: (
    question: QuestionBody & { readonly id: string; readonly runId: string },
  ) => readonly ConversationBlock[];
  /** Records a decision of this user. */
  readonly decided: (key: string, decision: Decision) => readonly ConversationBlock[];
  /** Adds runs that started before the items that were read. */
  readonly atWork: (runs: readonly { readonly id: string; readonly agent: string }[]) => void;
  /** Applies an item read from the log, as if its events had been followed. */
  readonly read: (item: Item) => readonly ConversationBlock[];
};

/** Of one call. */
const maxOutput = 20_000;

/** Folds the events of a thread into the blocks of a conversation. */
export function createConversation(): ConversationFold {
  const blocks = new Map<string, ConversationBlock>();
  const working = new Map<string, string | undefined>();

  const set = <Kept extends ConversationBlock>(block: Kept): readonly ConversationBlock[] => {
    blocks.set(block.key, block);
    return [block];
  };
  const find = <Kind extends ConversationBlock["kind"]>(key: string, kind: Kind): BlockOf<Kind> | undefined => {
    const block = blocks.get(key);
    return block?.kind === kind ? (block as BlockOf<Kind>) : undefined;
  };
  const live = (run: string, step: string): BlockOf<"message"> =>
    find(`${run}/${step}`, "message") ?? {
      kind: "message",
      key: `${run}/${step}`,
      run,
      author: working.get(run),
      role: "assistant",
      text: "",
      reasoning: "",
      isLive: true,
      isPartial: false,
      files: [],
    };

  function message(item: ItemOf<"message">): readonly ConversationBlock[] {
    const { body, runId, step, author } = item;
    if (runId !== null && body.role === "user" && body.to !== undefined) working.set(runId, body.to);
    const key = runId !== null && step !== null && body.role === "assistant" ? `${runId}/${step}` : item.id;
    return set({
      kind: "message",
      key,
      run: runId ?? undefined,
      author: author ?? (runId === null ? undefined : working.get(runId)),
      role: body.role,
      text: textOf(body.content),
      reasoning: body.reasoning?.slice(0, body.protocolAt) ?? "",
      isLive: false,
      isPartial: body.partial ?? false,
      files: body.files?.map(({ name }) => name) ?? [],
      item,
    });
  }

  function read(item: Item): readonly ConversationBlock[] {
    if ("erased" in item.body) return [];
    const run = item.runId ?? undefined;
    switch (item.kind) {
      case "message":
        return isNested(item) ? [] : message(item);
      case "call":
        return set({
          kind: "call",
          key: callKey(item),
          run,
          author: item.author ?? (run === undefined ? undefined : working.get(run)),
          name: item.body.name,
          arguments: item.body.arguments,
          output: "",
          place: `${item.step}.${item.index}`,
          threadId: item.threadId,
          startedAt: item.createdAt,
          ...(item.body.kept === undefined ? {} : { kept: item.body.kept }),
        });
      case "result": {
        const call = find(callKey(item), "call");
        if (!call) return [];
        const { content, isError = false, outcome, sources = [], data } = item.body;
        const result = { content, isError, sources, data, ...(outcome === undefined ? {} : { outcome }) };
        return set({ ...call, result, endedAt: item.createdAt });
      }
      case "question": {
        const call = item.index === null ? undefined : callKey(item);
        const about = call === undefined ? {} : { call };
        return set({ kind: "question", key: item.id, id: item.id, run: run ?? "", body: item.body, ...about });
      }
      case "decision": {
        const question = find(item.body.question, "question");
        if (!question) return [];
        const resumed = resume(run, item.createdAt);
        const { decision, arguments: given } = item.body;
        const call = question.call === undefined ? undefined : find(question.call, "call");
        if (call && decision === "deny")
          return [...resumed, ...set({ ...question, decision }), ...set({ ...call, isDenied: true as const })];
        if (!call || decision !== "allow" || given === undefined)
          return [...resumed, ...set({ ...question, decision })];
        // Show the arguments that are used, not the ones that the agent requested.
        return [...resumed, ...set({ ...question, decision, isChanged: true }), ...set({ ...call, arguments: given })];
      }
      case "plan":
        return set({ kind: "plan", key: `plan/${run ?? item.id}`, run, steps: item.body.steps });
      case "notice": {
        const { about: _, ...told } = item.body;
        return set({ kind: "notice", key: item.id, ...told });
      }
      case "state":
        return state(item);
      case "summary":
        return [];
    }
  }

  /** Resets the start time of a run's open calls, since none was running while the run waited for a person. */
  function resume(run: string | undefined, startedAt: string): readonly ConversationBlock[] {
    const open = [...blocks.values()].filter(
      (block): block is BlockOf<"call"> => block.kind === "call" && block.run === run && !block.result,
    );
    return open.flatMap((call) => set({ ...call, startedAt }));
  }

  function state({ body, runId, seq, author, step, index }: ItemOf<"state">): readonly ConversationBlock[] {
    if (body.type === "run-end") return end(runId ?? "", body.status, body.error);
    if (body.type === "run-resume") return resumed(seq, runId ?? "", author ?? "");
    if (body.type === "withdrawal") return withdraw(`${runId}/${step}`, index ?? undefined);
    if (body.type === "chapter") return chapter(seq, author ?? "");
    if (body.type === "turn" && runId !== null) working.set(runId, body.agent);
    return [];
  }

  /** What is not asked again now is not said to be. */
  function calm(run: string): readonly ConversationBlock[] {
    const trying = [...blocks.values()].filter(
      (block): block is BlockOf<"message"> =>
        block.kind === "message" && block.run === run && block.retry !== undefined,
    );
    return trying.flatMap(({ retry: _, ...block }) => set(block));
  }

  function chapter(seq: number, by: string): readonly ConversationBlock[] {
    const who = by === "" ? "" : ` by ${by}`;
    return set({ kind: "notice", key: `chapter/${seq}`, text: `A new chapter begins${who}.`, code: "chapter" });
  }

  function resumed(seq: number, run: string, by: string): readonly ConversationBlock[] {
    const ended = find(`end/${run}`, "end");
    blocks.delete(`end/${run}`);
    working.set(run, ended?.author);
    return set({ kind: "resume", key: `resume/${seq}`, run, by });
  }

  /** Of a call its result, else the part of an answer. */
  function withdraw(step: string, index: number | undefined): readonly ConversationBlock[] {
    const call = index === undefined ? undefined : find(`${step}/${index}`, "call");
    if (call) {
      const { result: _result, endedAt: _endedAt, isDenied: _isDenied, ...open } = call;
      return set(open);
    }
    const message = index === undefined ? find(step, "message") : undefined;
    if (!message) return [];
    const { item: _item, ...live } = message;
    return set({ ...live, text: "", reasoning: "", isLive: true, isPartial: false });
  }

  function end(
    run: string,
    status: BlockOf<"end">["status"],
    error: { readonly code: string; readonly message: string } | undefined,
  ): readonly ConversationBlock[] {
    const author = working.get(run);
    working.delete(run);
    calm(run);
    return set({
      kind: "end",
      key: `end/${run}`,
      run,
      author,
      status,
      ...(error && { error: error.message, code: error.code }),
    });
  }

  function apply(event: RunEvent): readonly ConversationBlock[] {
    switch (event.type) {
      case "run-start":
      case "turn-start":
        working.set(event.run, event.agent);
        return [];
      case "chapter":
        return chapter(event.seq, event.by);
      case "text-delta": {
        const { retry: _, ...block } = live(event.run, event.step);
        return set({ ...block, text: block.text.slice(0, event.offset) + event.text });
      }
      case "reasoning-delta": {
        const { retry: _, ...block } = live(event.run, event.step);
        return set({ ...block, reasoning: block.reasoning.slice(0, event.offset) + event.text });
      }
      case "step-retry": {
        const known = find(`${event.run}/${event.step}`, "message");
        if (!known && (!event.retry || event.step.includes("/"))) return [];
        const { retry: _, ...block } = known ?? live(event.run, event.step);
        return set({ ...block, text: "", reasoning: "", ...(event.retry ? { retry: event.retry } : {}) });
      }
      case "progress": {
        const call = find(`${event.run}/${event.step}/${event.index}`, "call");
        return call ? set({ ...call, output: (call.output + event.text).slice(-maxOutput) }) : [];
      }
      case "message":
      case "call-start":
      case "call-end":
      case "question":
      case "decision":
      case "plan":
      case "notice":
      case "summary":
        return read(event.item);
      case "run-wait":
        return calm(event.run);
      case "run-end":
        return end(event.run, event.status, event.error);
      case "run-resume":
        return resumed(event.seq, event.run, event.by);
      case "withdrawal":
        return withdraw(`${event.run}/${event.step}`, event.index);
      // Also what a newer server tells.
      default:
        return [];
    }
  }

  return {
    blocks: () => blocks.values(),
    working: () => working,
    open: () =>
      [...blocks.values()].filter(
        (block): block is BlockOf<"question"> =>
          block.kind === "question" && block.decision === undefined && !blocks.has(`end/${block.run}`),
      ),
    ask({ id, runId, ...body }) {
      return blocks.has(id) ? [] : set({ kind: "question", key: id, id, run: runId, body });
    },
    decided(key, decision) {
      const question = find(key, "question");
      return question ? set({ ...question, decision }) : [];
    },
    atWork(runs) {
      for (const { id, agent } of runs) if (!blocks.has(`end/${id}`)) working.set(id, agent);
    },
    apply,
    read,
  };
}

function callKey({ runId, step, index, id }: ItemOf<"call" | "result" | "question">): string {
  // Copies belong to no run; their steps have names of their own in the thread.
  return step === null ? id : `${runId ?? ""}/${step}/${index}`;
}

/** Whether the step was asked by a tool: such steps are recorded but not shown. */
function isNested({ step, body }: ItemOf<"message">): boolean {
  return body.role === "assistant" && step !== null && step.includes("/");
}

/** The run that a call of another run stands for, if it has begun; `place` is the call's `step.index`. */
export async function childRunOf(
  server: ServerAccess,
  { run, place, signal }: { readonly run: string; readonly place: string; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  const path = `/api/runs/${run}/details?limit=1`;
  const { runs } = await askJson<RunDetailsView>(server, path, { signal });
  return runs.find(({ parentRun, parentCall }) => parentRun === run && parentCall === place)?.id;
}
