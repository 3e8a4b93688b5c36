import { styleText } from "node:util";
import type { Client } from "./client/client.ts";
import { answerCommand, askPerson, describeQuestion, type Terminal } from "./cli-questions.ts";
import { ColloquyError } from "./protocol/errors.ts";
import type { RunEvent } from "./protocol/events.ts";

export type FollowOutput = {
  /** Where the answer goes. */
  readonly answer: NodeJS.WritableStream;
  /** Where all else goes. */
  readonly notes: NodeJS.WritableStream;
  /** Each event as a line of JSON instead. */
  readonly json: boolean;
  /** Absent: nobody can be asked here. */
  readonly terminal?: Terminal;
};

export const exitCodes = { done: 0, failed: 1, waiting: 2 } as const;

/** What this process reads and writes; a person is asked only if both are a terminal. Ctrl+C at a question counts as everywhere. */
export function processOutput(json: boolean): FollowOutput {
  const { stdin: input, stdout, stderr } = process;
  const interrupt = () => void process.kill(process.pid, "SIGINT");
  const terminal = { input, output: stderr, interrupt };
  return { answer: stdout, notes: stderr, json, ...(!json && input.isTTY && stderr.isTTY ? { terminal } : {}) };
}

/** Tells a run until its end, or until it waits for somebody who can't be asked here. Returns the exit code. */
export async function followRun(
  client: Client,
  run: { readonly id: string; readonly cursor: string },
  output: FollowOutput,
): Promise<number> {
  for (let { cursor } = run; ;) {
    const last = await tell(client, { id: run.id, cursor }, output);
    if (last?.event.type === "run-end") return last.event.status === "done" ? exitCodes.done : exitCodes.failed;
    if (!last) return exitCodes.failed;
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
    output.notes.write(`The run waits (${left.waitReason}).\n`);
    for (const question of left.questions)
      output.notes.write(`${describeQuestion(question)}\n  ${answerCommand(question)}\n`);
    return exitCodes.waiting;
  }
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
  { id, cursor: from }: { readonly id: string; readonly cursor: string },
  { answer, notes, json }: FollowOutput,
): Promise<
  { readonly event: Extract<RunEvent, { type: "run-end" | "run-wait" }>; readonly cursor: string } | undefined
> {
  let atLineStart = true;
  const note = (text: string) => {
    if (!atLineStart) answer.write("\n");
    atLineStart = true;
    notes.write(`${text}\n`);
  };
  for await (const { event, cursor } of client.follow(id, { cursor: from })) {
    if (json) {
      answer.write(`${JSON.stringify(event)}\n`);
    } else if (event.type === "text-delta") {
      answer.write(event.text);
      atLineStart = event.text.endsWith("\n");
    } else {
      const text = activity(event);
      if (text !== undefined) note(text);
    }
    if (event.type !== "run-end" && event.type !== "run-wait") continue;
    if (!atLineStart) answer.write("\n");
    return { event, cursor };
  }
  return undefined;
}

/** One line about what happens beside the text. */
function activity(event: RunEvent): string | undefined {
  const dim = (text: string) => styleText("dim", text, { stream: process.stderr });
  switch (event.type) {
    case "call-start":
      return dim(`▸ ${event.item.body.name} ${oneLine(event.item.body.arguments)}`);
    case "call-end":
      return dim(`  ${event.item.body.isError ? "✗" : "✓"} ${oneLine(event.item.body.content)}`);
    case "step-retry":
      return dim("The answer broke off and is told anew.");
    case "notice":
      return dim(event.item.body.text);
    case "run-end":
      if (event.status === "cancelled") return "Stopped.";
      return event.status === "failed" ? `Failed: ${event.error?.message ?? "unknown"}` : undefined;
    default:
      return undefined;
  }
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
