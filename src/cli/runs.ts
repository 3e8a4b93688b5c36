import type { QuestionView, StartedRun } from "../protocol/threads/run-shapes.ts";
import type { ListedRunView } from "../protocol/threads/run-trace.ts";
import { type Client, createClient } from "../client/client.ts";
import { connect } from "./connect.ts";
import { exitCodes, type FollowedRun, followRun, processOutput } from "./follow-run.ts";
import { answerCommand, describeQuestion } from "./ask-person.ts";
import { oneLine, resumeCommand } from "./run-text.ts";
import { loadConfig } from "../config/load.ts";
import type { OnOutage } from "../protocol/agents/agents.ts";
import { InvalidInput, NotFound } from "../protocol/base/errors.ts";
import { decisions, type Decision } from "../protocol/threads/items.ts";
import { isEnded, type RunStatus, runStatuses } from "../protocol/threads/runs.ts";

/** That a server tells at once. */
const maxRuns = 500;

export type RunListOptions = {
  /** Those that have ended too. */
  readonly all: boolean;
  /** Only those that stand so. */
  readonly status?: string;
  /** Of `all` or a status, how many. */
  readonly limit?: string;
};

/** `colloquy runs`: which there are, and the command that goes on with each that waits or has not come to its end. */
export async function listRuns({ all, status, limit = "20" }: RunListOptions): Promise<number> {
  const filter = all || status !== undefined ? { status: statusIn(status), limit: limitIn(limit) } : undefined;
  const { server, close } = await connect(loadConfig(), { runsJobs: false });
  try {
    const client = createClient(server);
    return await (filter ? listNewest(client, filter) : listLive(client));
  } finally {
    await close();
  }
}

/** Those that have not ended, oldest first. */
async function listLive(client: Client): Promise<number> {
  const live = await Promise.all(
    (["running", "queued", "waiting"] as const).map((status) => client.runs({ status, limit: maxRuns })),
  );
  const runs = live.flat().sort((one, other) => (one.id < other.id ? -1 : 1));
  await tellRuns(client, runs);
  if (runs.length === 0) console.log("No active runs. Use --all to include runs that have ended.");
  return exitCodes.done;
}

/** Newest first, without the parts of others: these go on with what they are parts of. */
async function listNewest(
  client: Client,
  { status, limit }: { readonly status: RunStatus | undefined; readonly limit: number },
): Promise<number> {
  const runs = await client.runs({ ...(status && { status }), root: "true", limit });
  await tellRuns(client, runs);
  if (runs.length === 0) console.log(status === undefined ? "No runs yet." : `No ${status} runs.`);
  if (runs.some((run) => isEnded(run.status)))
    console.error("To start a new run with the steps of one that has ended: ./colloquy fork <run> <step>");
  if (runs.length === limit && limit < maxRuns)
    console.error(`Showing the newest ${limit}. For more: --limit ${Math.min(limit * 2, maxRuns)}`);
  return exitCodes.done;
}

async function tellRuns(client: Client, runs: readonly ListedRunView[]): Promise<void> {
  const questions = Map.groupBy(await client.questions(), ({ runId }) => runId);
  for (const run of runs) console.log(describeRun(run, questions.get(run.id) ?? []));
}

function describeRun(
  { id, status, waitReason, retryAt, agent, createdAt, endedAt, error, text }: ListedRunView,
  questions: readonly QuestionView[],
): string {
  const next = retryAt === null ? "" : `, next attempt at ${retryAt}`;
  const state = waitReason === null ? status : `${status} (${waitReason}${next})`;
  const when = endedAt === null ? `since ${createdAt}` : `ended ${endedAt}`;
  const words = oneLine(text ?? "");
  const lines = questions.flatMap((question) => [describeQuestion(question), `  ${answerCommand(question)}`]);
  if (error !== null) lines.push(oneLine(error.message));
  if (status === "failed" || status === "cancelled") lines.push(resumeCommand(id));
  const head = [id, state, agent, when, ...(words === "" ? [] : [words])].join("  ");
  return [head, ...lines.flatMap((line) => line.split("\n"))].join("\n    ");
}

function statusIn(text: string | undefined): RunStatus | undefined {
  const status = runStatuses.find((one) => one === text);
  if (text !== undefined && !status) throw new InvalidInput(`--status must be ${runStatuses.join(", ")}.`);
  return status;
}

function limitIn(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > maxRuns)
    throw new InvalidInput(`--limit must be a number from 1 to ${maxRuns}.`);
  return limit;
}

export type DecisionOptions = {
  readonly text?: string;
  /** JSON text, with `allow`. */
  readonly arguments?: string;
  readonly always: boolean;
  readonly json: boolean;
};

/** `colloquy answer <question> <decision>`: decides, and tells how the run goes on. */
export async function answer(
  [questionId, decision]: readonly string[],
  { always, json, ...rest }: DecisionOptions,
): Promise<number> {
  if (questionId === undefined || !isDecision(decision))
    throw new InvalidInput(
      "./colloquy answer <question> <decision>   (allow, deny; continue, stop; done, failed, retry; answer --text, decline; retry, model --text, stop). Run `./colloquy runs` to see open questions.",
    );
  const { server, isOwn, close } = await connect(loadConfig(), { runsJobs: true });
  try {
    const client = createClient(server);
    const question = (await client.questions()).find(({ id }) => id === questionId);
    if (!question)
      throw new NotFound(
        `No run of yours is waiting for an answer to ${questionId}. Run \`./colloquy runs\` to see open questions.`,
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
  { json, onOutage }: Pick<DecisionOptions, "json"> & { readonly onOutage?: OnOutage | undefined },
): Promise<number> {
  if (id === undefined)
    throw new InvalidInput(
      "./colloquy resume <run>   (the run's id, as shown by `./colloquy run` when it fails and by `./colloquy runs --all`).",
    );
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
      "./colloquy fork <run> <step>   (the run's id, as shown by `./colloquy runs --all`, and the last step to keep; an unknown step lists the steps it has).",
    );
  return followBegun(json, (client) => client.fork(id, { step, ...changes }));
}

/** Tells what has begun until it ends or waits; Ctrl+C cancels it. */
async function followBegun(json: boolean, begin: (client: Client) => Promise<StartedRun>): Promise<number> {
  const { server, isOwn, close } = await connect(loadConfig(), { runsJobs: true });
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
