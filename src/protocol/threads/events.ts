import type { ItemOf, Outage } from "./items.ts";
import type { RunError, WaitReason } from "./runs.ts";

/**
 * What followers of a thread or run see, in order. Events with `seq` stand in the log; the others are live.
 * Of one step, the `text-delta`s of the last attempt joined are exactly the text of its `message`; of what a forked run keeps
 * (`kept`) there are none.
 */
export type RunEvent =
  | { readonly type: "run-start"; readonly run: string; readonly agent: string }
  | {
      readonly type: "step-start";
      readonly run: string;
      readonly step: string;
      readonly attempt: number;
      readonly model?: string;
    }
  | {
      readonly type: "text-delta" | "reasoning-delta";
      readonly run: string;
      readonly step: string;
      readonly attempt: number;
      /** Characters of this kind before this piece. */
      readonly offset: number;
      readonly text: string;
    }
  /** What was told of this attempt is withdrawn. */
  | {
      readonly type: "step-retry";
      readonly run: string;
      readonly step: string;
      readonly attempt: number;
      /** Absent where a process died over it. */
      readonly retry?: Retry;
    }
  | {
      readonly type: "progress";
      readonly run: string;
      readonly step: string;
      readonly index: number;
      readonly text: string;
    }
  | { readonly type: "message"; readonly seq: number; readonly item: ItemOf<"message"> }
  | { readonly type: "call-start"; readonly seq: number; readonly item: ItemOf<"call"> }
  | { readonly type: "call-end"; readonly seq: number; readonly item: ItemOf<"result"> }
  | { readonly type: "question"; readonly seq: number; readonly item: ItemOf<"question"> }
  | { readonly type: "decision"; readonly seq: number; readonly item: ItemOf<"decision"> }
  | { readonly type: "plan"; readonly seq: number; readonly item: ItemOf<"plan"> }
  | { readonly type: "summary"; readonly seq: number; readonly item: ItemOf<"summary"> }
  | { readonly type: "notice"; readonly seq: number; readonly item: ItemOf<"notice"> }
  /** An agent of a room is woken by the message `answers`; what follows with this run is its turn. */
  | {
      readonly type: "turn-start";
      readonly seq: number;
      readonly run: string;
      readonly agent: string;
      readonly answers: string;
      readonly rootRun: string;
    }
  /** It had nothing to say. */
  | { readonly type: "pass"; readonly seq: number; readonly run: string; readonly agent: string }
  /** From here on a room's agents are told nothing of before. */
  | { readonly type: "chapter"; readonly seq: number; readonly by: string }
  /** A person chose the branch that ends in this item; what is written from now on follows it. */
  | { readonly type: "branch"; readonly seq: number; readonly leaf: string | null }
  | {
      readonly type: "strategy";
      readonly seq: number;
      readonly run: string;
      readonly strategy: string;
      readonly reason?: string;
    }
  | {
      readonly type: "run-wait";
      readonly seq: number;
      readonly run: string;
      readonly reason: WaitReason;
      readonly text?: string;
      readonly error?: RunError;
    }
  /** It had ended, and goes on; what it still says is told by followers of the thread, and of the run if they come back. */
  | { readonly type: "run-resume"; readonly seq: number; readonly run: string; readonly by: string }
  /** What the run had told at this place, a call's result or a part of an answer, is no more: it is done anew. */
  | {
      readonly type: "withdrawal";
      readonly seq: number;
      readonly run: string;
      readonly step: string;
      /** Of a call. */
      readonly index?: number;
    }
  | {
      readonly type: "run-end";
      readonly seq: number;
      readonly run: string;
      readonly status: "done" | "failed" | "cancelled";
      readonly error?: RunError;
    };

/** Why an attempt failed, for a person, and in how many milliseconds the next one is made. */
export type Retry = Omit<Outage, "repeats"> & { readonly text: string; readonly afterMs: number };

/** How far a follower has read of a message that is still being written. */
export type LivePlace = {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly text: number;
  readonly reasoning: number;
};

/** `<seq>[;<run>/<step>/<attempt>:<text offset>[,<reasoning offset>]]…`: an SSE id, good on any node. */
export type Cursor = { readonly seq: number; readonly live: readonly LivePlace[] };

export function formatCursor(cursor: Cursor): string {
  let text = String(cursor.seq);
  for (const place of cursor.live) {
    text += `;${place.run}/${encodeURIComponent(place.step)}/${place.attempt}:${place.text}`;
    if (place.reasoning > 0) text += "," + place.reasoning;
  }
  return text;
}

/** Undefined for what is not a cursor. */
export function parseCursor(text: string): Cursor | undefined {
  if (text.length > 4096) return undefined;
  const [head = "", ...rest] = text.split(";");
  if (!/^\d{1,15}$/.test(head)) return undefined;
  const live: LivePlace[] = [];
  for (const part of rest) {
    const match = /^([0-9a-f-]{36})\/([^/;]{1,200})\/(\d{1,9}):(\d{1,12})(?:,(\d{1,12}))?$/.exec(part);
    const step = match ? decoded(match[2]!) : undefined;
    if (!match || step === undefined) return undefined;
    live.push({
      run: match[1]!,
      step,
      attempt: +match[3]!,
      text: +match[4]!,
      reasoning: +(match[5] ?? 0),
    });
  }
  return { seq: +head, live };
}

/** Undefined if the text is not percent-encoded as it should be. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
