import type { RunView, QuestionView } from "./protocol/run-shapes.ts";
import { createClient } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { exitCodes, followRun, processOutput } from "./cli-follow.ts";
import { answerCommand, describeQuestion } from "./cli-questions.ts";
import { loadConfig } from "./config.ts";
import { InvalidInput, NotFound } from "./protocol/errors.ts";
import { decisions, type Decision } from "./protocol/items.ts";

/** `colloquy runs`: the runs that have not ended, oldest first, and how to answer what they wait for. */
export async function listLiveRuns(): Promise<number> {
  const { server, close } = await connect(loadConfig(), { works: false });
  try {
    const client = createClient(server);
    const live = await Promise.all(
      (["running", "queued", "waiting"] as const).map((status) => client.runs({ status, limit: 500 })),
    );
    const questions = Map.groupBy(await client.questions(), ({ runId }) => runId);
    const runs = live.flat().sort((one, other) => (one.id < other.id ? -1 : 1));
    for (const run of runs) console.log(describeRun(run, questions.get(run.id) ?? []));
    if (runs.length === 0) console.log("No run is at work or waits.");
    return exitCodes.done;
  } finally {
    await close();
  }
}

function describeRun(
  { id, status, waitReason, agent, createdAt }: RunView,
  questions: readonly QuestionView[],
): string {
  const state = waitReason === null ? status : `${status} (${waitReason})`;
  const lines = questions.flatMap((question) => [describeQuestion(question), `  ${answerCommand(question)}`]);
  return [`${id}  ${state}  ${agent}  since ${createdAt}`, ...lines.flatMap((line) => line.split("\n"))].join("\n    ");
}

export type AnswerOptions = {
  readonly text?: string;
  /** JSON text, with `allow`. */
  readonly arguments?: string;
  readonly always: boolean;
  readonly json: boolean;
};

/** `colloquy answer <question> <decision>`: decides, and tells how the run goes on. */
export async function answer(
  [questionId, decision]: readonly string[],
  { always, json, ...rest }: AnswerOptions,
): Promise<number> {
  if (questionId === undefined || !isDecision(decision))
    throw new InvalidInput(
      "colloquy answer <question> <decision>   (allow, deny; continue, stop; done, failed, retry; answer --text, decline). `colloquy runs` shows what is asked.",
    );
  const { server, close } = await connect(loadConfig(), { works: true });
  try {
    const client = createClient(server);
    const question = (await client.questions()).find(({ id }) => id === questionId);
    if (!question)
      throw new NotFound(
        `No run of yours waits for an answer to ${questionId}. \`colloquy runs\` shows what is asked.`,
      );
    const { lastSeq } = await client.thread(question.threadId);
    const { id } = await client.decide(question, { decision, ...rest, ...(always ? { always } : {}) });
    process.once("SIGINT", () => void client.cancel(id));
    return await followRun(client, { id, cursor: String(lastSeq) }, processOutput(json));
  } finally {
    await close();
  }
}

function isDecision(text: string | undefined): text is Decision {
  return Object.values(decisions).some((possible) => possible.some((decision) => decision === text));
}
