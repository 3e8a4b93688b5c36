import { styleText } from "node:util";
import type { Client } from "../client/client.ts";
import { answerCommand, askPerson, describeQuestion, type Terminal } from "./ask-person.ts";
import { brokenPipe, outputClosed } from "./closed-pipe.ts";
import { createRunPrinter, type OutputPiece, type RunPrinter } from "./run-text.ts";
import { ColloquyError } from "../protocol/base/errors.ts";
import type { RunEvent } from "../protocol/threads/events.ts";
import type { RunWithQuestions } from "../protocol/threads/run-shapes.ts";

export type FollowOutput = {
  /** Where the answer goes. */
  readonly answer: NodeJS.WritableStream;
  /** Where all else goes. */
  readonly notes: NodeJS.WritableStream;
  /** Each event as a line of JSON instead. */
  readonly json: boolean;
  /** Absent: nobody can be asked here. */
  readonly terminal?: Terminal;
  /** After so long without news a person is told that it is not over. */
  readonly quietMs?: number;
  /** Ends the telling, not the run. */
  readonly gone?: AbortSignal;
};

export type FollowedRun = {
  readonly id: string;
  readonly threadId: string;
  /** From where on it is told. */
  readonly cursor: string;
  /** Of a room: who has begun to speak before that, by the runs of their turns. */
  readonly turns?: ReadonlyMap<string, string>;
};

export const exitCodes = { done: 0, failed: 1, waiting: 2 } as const;

/**
 * What this process reads and writes; a person is asked only if both are a terminal. Ctrl+C at a question counts as everywhere.
 * When nobody reads on, a run of a server that was started here is still worked on to its end.
 */
export function processOutput(json: boolean, { isOwn }: { readonly isOwn: boolean }): FollowOutput {
  const { stdin: input, stdout, stderr } = process;
  const interrupt = () => void process.kill(process.pid, "SIGINT");
  const terminal = { input, output: stderr, interrupt };
  return {
    ...{ answer: stdout, notes: stderr, json },
    ...(isOwn ? {} : { gone: outputClosed }),
    ...(!json && stderr.isTTY ? { quietMs: 10_000 } : {}),
    ...(!json && input.isTTY && stderr.isTTY ? { terminal } : {}),
  };
}

/** Tells a run until its end, or until it waits for somebody who can't be asked here. Returns the exit code. */
export async function followRun(client: Client, run: FollowedRun, output: FollowOutput): Promise<number> {
  const { id, threadId, turns } = run;
  const teller = createRunPrinter(id, turns);
  for (let { cursor } = run; ;) {
    const last = await tell(client, { id, threadId, cursor }, { output, teller });
    if (last?.event.type === "run-end") return last.event.status === "done" ? exitCodes.done : exitCodes.failed;
    if (!last) return output.gone?.aborted ? brokenPipe : exitCodes.failed;
    ({ cursor } = last);
    const { status, questions } = await client.run(run.id);
    // Somebody else was faster.
    if (status !== "waiting") continue;
    for (const question of questions) {
      const decision = output.terminal && (await askPerson(question, output.terminal));
      if (decision) await decideOrTell(client, question, { decision, output });
    }
    const left = await client.run(run.id);
    if (left.status !== "waiting") continue;
    if (output.json) return exitCodes.waiting;
    output.notes.write(`${waitsFor(left)}\n`);
    for (const question of left.questions)
      output.notes.write(`${describeQuestion(question)}\n  ${answerCommand(question)}\n`);
    return exitCodes.waiting;
  }
}

function waitsFor({ waitReason, retryAt, questions }: RunWithQuestions): string {
  if (retryAt !== null)
    return `The run is waiting for the model. Next attempt at ${new Date(retryAt).toTimeString().slice(0, 8)}.`;
  if (waitReason === "provider") return "The run is waiting for the model until the problem is fixed:";
  return questions.length > 0 ? "The run is waiting for your answer:" : `The run is waiting (${waitReason}).`;
}

/** A decision that can't be taken says why; the question may be open still. */
async function decideOrTell(
  client: Client,
  question: Parameters<Client["decide"]>[0],
  { decision, output }: { decision: Parameters<Client["decide"]>[1]; output: FollowOutput },
): Promise<void> {
  try {
    await client.decide(question, decision);
  } catch (error) {
    if (!(error instanceof ColloquyError) || error.status >= 500) throw error;
    output.notes.write(`${error.message}\n`);
  }
}

/** Prints until the run ends or waits; what is past is told up to there too. */
async function tell(
  client: Client,
  { id, threadId, cursor: from }: { readonly id: string; readonly threadId: string; readonly cursor: string },
  {
    output: { answer, notes, json, gone, quietMs },
    teller,
  }: { readonly output: FollowOutput; readonly teller: RunPrinter },
): Promise<
  { readonly event: Extract<RunEvent, { type: "run-end" | "run-wait" }>; readonly cursor: string } | undefined
> {
  let atLineStart = true;
  const write = ({ kind, text }: OutputPiece) => {
    if (kind !== "text" && !atLineStart) answer.write("\n");
    atLineStart = kind !== "text" || text.endsWith("\n");
    if (kind === "text") answer.write(text);
    else if (kind === "line") answer.write(`${text}\n`);
    else if (kind !== "break") notes.write(`${kind === "activity" ? dim(text) : text}\n`);
  };
  const sayQuiet = (seconds: number) =>
    write({ kind: "activity", text: `No news for ${seconds} s. Press Ctrl+C to cancel the run.` });
  const quiet = quietMs === undefined ? undefined : whileQuiet(quietMs, sayQuiet);
  try {
    // The thread's events: members of a room speak in runs of their own there.
    for await (const { event, cursor } of client.followThread(threadId, {
      cursor: from,
      ...(gone ? { signal: gone } : {}),
      onConnection: (isConnected) =>
        void notes.write(isConnected ? "Reconnected.\n" : "Connection lost. Reconnecting…\n"),
    })) {
      if (!teller.isOf(event)) continue;
      quiet?.heard();
      if (json) answer.write(`${JSON.stringify(event)}\n`);
      else for (const told of teller.tell(event)) write(told);
      if ((event.type !== "run-end" && event.type !== "run-wait") || event.run !== id) continue;
      if (!atLineStart) answer.write("\n");
      return { event, cursor };
    }
    return undefined;
  } finally {
    quiet?.end();
  }
}

/** Calls `say` with the seconds when nothing was heard for so long, then ever more rarely. */
function whileQuiet(firstMs: number, say: (seconds: number) => void): { heard(): void; end(): void } {
  let timer: NodeJS.Timeout;
  const wait = (ms: number, waitedMs: number) => {
    timer = setTimeout(() => {
      say(Math.round((waitedMs + ms) / 1000));
      wait(waitedMs + ms, waitedMs + ms);
    }, ms);
  };
  wait(firstMs, 0);
  const end = () => clearTimeout(timer);
  const heard = () => {
    end();
    wait(firstMs, 0);
  };
  return { heard, end };
}

function dim(text: string): string {
  return styleText("dim", text, { stream: process.stderr });
}
