import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../random.ts";
import { messageOf, type Script } from "../script.ts";
import type { Outside } from "./outside.ts";
import type { Followed, Peer, Seen } from "./peer.ts";

/** One run as its client knows it. */
export type Submission = {
  readonly id: string;
  readonly script: Script;
  seen: Seen;
  /** Of these writes the server said that it did not know. */
  readonly saidUnknown: Set<string>;
  followed?: Followed;
};

export type Load = {
  readonly name: string;
  readonly peer: Peer;
  readonly random: Random;
  readonly outside: Outside;
  readonly submissions: Submission[];
  readonly goesOn: () => boolean;
  /** Fires when no more is waited for. */
  readonly patience: AbortSignal;
};

/** What a run does: up to three rounds of one or two calls, reads and writes, then an answer. */
function randomScript(random: Random, tag: string): Script {
  const tools = ["look", "send_plain", "send_idempotent"] as const;
  const rounds = Array.from({ length: random.between(1, 3) }, () =>
    Array.from({ length: random.between(1, 2) }, () => random.pick(tools)),
  );
  return { tag, rounds, words: random.between(10, 40) };
}

/** A client that sends message after message. It does not wait for ever: a run that takes long is looked after at the end. */
export async function sendMessages(load: Load): Promise<void> {
  const attended: Promise<void>[] = [];
  for (let count = 1; load.goesOn(); count++) {
    const script = randomScript(load.random, `${load.name}-${count}`);
    const submission = await submit(load, script);
    if (!submission) break;
    load.submissions.push(submission);
    const attending = attend(load, submission);
    attended.push(attending);
    await Promise.race([attending, sleep(10_000, undefined, { ref: false })]);
  }
  await Promise.all(attended);
}

/** Again and again under the same id until it is accepted; some are sent twice at the same time. */
async function submit({ peer, random, patience }: Load, script: Script): Promise<Submission | undefined> {
  const id = randomUUID();
  const send = async () => {
    while (!patience.aborted) {
      try {
        return await peer.submit(id, messageOf(script), patience);
      } catch {
        await sleep(random.between(50, 300));
      }
    }
  };
  await Promise.all(random.chance(0.3) ? [send(), send()] : [send()]);
  return patience.aborted ? undefined : { id, script, seen: { status: "running" }, saidUnknown: new Set() };
}

async function attend(load: Load, submission: Submission): Promise<void> {
  const { peer, patience } = load;
  const following = peer.follow?.(submission.id, patience).then(
    (followed) => void (submission.followed = followed),
    (error: unknown) => void (submission.followed = { text: "", faults: [String(error)] }),
  );
  await watch(load, submission);
  // The end of a stream comes with the end of its run.
  await Promise.race([following, sleep(15_000, undefined, { ref: false })]);
}

/** Looks until the run has ended, and settles what its server says it does not know, as a person would: by looking outside. */
async function watch({ peer, random, outside, patience }: Load, submission: Submission): Promise<void> {
  for (let gone = 0; !patience.aborted; await sleep(random.between(150, 400))) {
    try {
      const seen = await peer.look(submission.id, AbortSignal.any([patience, AbortSignal.timeout(5000)]));
      submission.seen = seen;
      for (const { effect, settle } of seen.unknown ?? []) {
        submission.saidUnknown.add(effect);
        await settle(outside.countOf(effect) > 0);
      }
      if (seen.status === "done" || seen.status === "failed") return;
      if (seen.status === "gone" && ++gone > 20) return;
    } catch {
      // Killed, or just decided: looked at again.
    }
  }
}
