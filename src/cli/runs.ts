import type { RunView, QuestionView, StartedRun } from "../protocol/threads/run-shapes.ts";
import { type Client, createClient } from "../client/client.ts";
import { connect } from "./connect.ts";
import { exitCodes, type FollowedRun, followRun, processOutput } from "./follow-run.ts";
import { answerCommand, describeQuestion } from "./ask-person.ts";
import { loadConfig } from "../config/load.ts";
import type { OnOutage } from "../protocol/agents/agents.ts";
import { InvalidInput, NotFound } from "../protocol/base/errors.ts";
import { decisions, type Decision } from "../protocol/threads/items.ts";

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
  { id, status, waitReason, retryAt, agent, createdAt }: RunView,
  questions: readonly QuestionView[],
): string {
  const next = retryAt === null ? "" : `, next try at ${retryAt}`;
  const state = waitReason === null ? status : `${status} (${waitReason}${next})`;
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
      "colloquy answer <question> <decision>   (allow, deny; continue, stop; done, failed, retry; answer --text, decline; retry, model --text, stop). `colloquy runs` shows what is asked.",
    );
  const { server, isOwn, close } = await connect(loadConfig(), { works: true });
  try {
    const client = createClient(server);
    const question = (await client.questions()).find(({ id }) => id === questionId);
    if (!question)
      throw new NotFound(
        `No run of yours waits for an answer to ${questionId}. \`colloquy runs\` shows what is asked.`,
      );
    const run = await whatWaits(client, question);
    await client.decide(question, { decision, ...rest, ...(always ? { always } : {}) });
    process.once("SIGINT", () => void client.cancel(run.id));
    return await followRun(client, run, processOutput(json, { isOwn }));
  } finally {
    await close();
  }
}

/** `colloquy resume <run>`: the same run goes on, and is told from there. */
export async function resume(
  id: string | undefined,
  { json, onOutage }: Pick<AnswerOptions, "json"> & { readonly onOutage?: OnOutage | undefined },
): Promise<number> {
  if (id === undefined)
    throw new InvalidInput("colloquy resume <run>   (its id, as `colloquy run` and the page of runs show it).");
  return followBegun(json, (client) => client.resume(id, { held: true, ...(onOutage && { onOutage }) }));
}

export type ForkOptions = {
  /** Another model, and another message, from that step on. */
  readonly model?: string;
  readonly input?: string;
  readonly json: boolean;
};

/** `colloquy fork <run> <step>`: a new run that begins with that one's steps, and is told from there. */
export async function fork([id, step]: readonly string[], { json, ...changes }: ForkOptions): Promise<number> {
  if (id === undefined || step === undefined)
    throw new InvalidInput(
      "colloquy fork <run> <step>   (the run's id, and the last of its steps that is kept; of a step that it has not, the answer names those that it has).",
    );
  return followBegun(json, (client) => client.fork(id, { step, ...changes }));
}

/** Tells what has begun until it ends or waits; Ctrl+C cancels it. */
async function followBegun(json: boolean, begin: (client: Client) => Promise<StartedRun>): Promise<number> {
  const { server, isOwn, close } = await connect(loadConfig(), { works: true });
  try {
    const client = createClient(server);
    const { id, threadId, cursor } = await begin(client);
    process.once("SIGINT", () => void client.cancel(id));
    return await followRun(client, { id, threadId, cursor }, processOutput(json, { isOwn }));
  } finally {
    await close();
  }
}

/** The run that a question is asked within: of a member of a room, the whole room's. */
async function whatWaits(client: Client, { runId }: QuestionView): Promise<FollowedRun> {
  const asking = await client.run(runId);
  const { id, threadId } = asking.rootRun === runId ? asking : await client.run(asking.rootRun);
  const { lastSeq } = await client.thread(threadId);
  const live = await client.runs({ thread: threadId, limit: 500 });
  const turns = live.filter(({ rootRun, id: run }) => rootRun === id && run !== id);
  return { id, threadId, cursor: String(lastSeq), turns: new Map(turns.map((turn) => [turn.id, turn.agent])) };
}

function isDecision(text: string | undefined): text is Decision {
  return Object.values(decisions).some((possible) => possible.some((decision) => decision === text));
}
