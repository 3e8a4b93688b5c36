import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../src/protocol/base/ids.ts";
import { agentId, askAny } from "./cluster.ts";
import { followAnywhere } from "./follow.ts";
import { answerQuestions, type Person } from "./person.ts";
import { resumeEnded } from "./resume.ts";
import { messageOf, randomScript, type Script } from "./script.ts";
import type { StreamCheck } from "./stream-check.ts";

/** One run as its client knows it. */
export type Submission = {
  readonly script: Script;
  readonly runId: string;
  readonly threadId: string;
  cancelAsked: boolean;
  /** How often it went on after its end. */
  resumed: number;
  readonly streams: StreamCheck[];
};

export type Load = Person & {
  /** Of a client, in tags. */
  readonly name: string;
  readonly submissions: Submission[];
  /** False: what was begun is brought to its end, and no more. */
  readonly goesOn: () => boolean;
};

const runsOfThread = 5;

/** A client that sends message after message, each to be followed to its end. */
export async function sendMessages(load: Load): Promise<void> {
  const { nodes, random, signal } = load;
  for (let count = 0; load.goesOn();) {
    const thread = await askAny(nodes, random, {
      ask: (client, within) => client.createThread({ id: newId() }, within),
      signal,
    });
    for (let sent = 0; sent < runsOfThread && load.goesOn();) {
      // Two at once: the second waits for the first.
      const size = random.chance(0.2) ? 2 : 1;
      const scripts = Array.from({ length: size }, () => randomScript(random, `${load.name}-${++count}`));
      await Promise.all(scripts.map((script) => attend(load, thread.id, script)));
      sent += size;
    }
  }
}

async function attend(load: Load, threadId: string, script: Script): Promise<void> {
  const { nodes, random, signal } = load;
  const { id, cursor } = await submit(load, threadId, script);
  const submission: Submission = { script, runId: id, threadId, cancelAsked: false, resumed: 0, streams: [] };
  load.submissions.push(submission);

  const duties: Promise<void>[] = [];
  const watch = async (from: string, isFirst: boolean) => {
    submission.streams.push(
      await followAnywhere(nodes, random, {
        runId: id,
        cursor: from,
        signal,
        onEvent(event) {
          if (event.type === "run-wait" && isFirst) duties.push(answerQuestions(load, id));
        },
      }),
    );
  };
  const late = async () => {
    await sleep(random.between(200, 5000));
    await watch("0", false);
  };
  const stop = async () => {
    await sleep(random.between(0, 4000));
    submission.cancelAsked = true;
    await askAny(nodes, random, { ask: (client, within) => client.cancel(id, within), signal });
  };
  await Promise.all([
    watch(cursor, true),
    ...(random.chance(0.25) ? [late()] : []),
    ...(random.chance(0.1) ? [stop()] : []),
  ]);
  await Promise.all(duties);
  const from = await resumeEnded(load, submission);
  if (from === undefined) return;
  await watch(from, true);
  await Promise.all(duties);
}

/** The same message sent once or twice at the same time, to nodes at random, until it is accepted: one run. */
async function submit(load: Load, threadId: string, script: Script): Promise<{ id: string; cursor: string }> {
  const { nodes, random, signal } = load;
  const input = { agent: agentId, content: messageOf(script), messageId: newId(), idempotencyKey: script.tag };
  const send = () =>
    askAny(nodes, random, { ask: (client, within) => client.startRun(threadId, input, within), signal });
  const answers = await Promise.all(random.chance(0.3) ? [send(), send()] : [send()]);
  const ids = new Set(answers.map(({ id }) => id));
  if (ids.size > 1) load.complain(`${script.tag} was accepted as ${[...ids].join(" and ")}`);
  return answers[0]!;
}
