import { createClient } from "../client/client.ts";
import { connect } from "./connect.ts";
import { followRun, processOutput } from "./follow-run.ts";
import { loadConfig } from "../config/load.ts";
import type { OnOutage } from "../protocol/agents/agents.ts";
import { ColloquyError, Conflict, InvalidInput } from "../protocol/base/errors.ts";

export type RunPromptOptions = {
  readonly message: string;
  readonly agent: string;
  readonly thread?: string;
  readonly json: boolean;
  readonly onOutage?: OnOutage | undefined;
};

/**
 * Asks an agent and streams its answer: text to standard output, what it does to standard error. Ctrl+C cancels the run. The
 * name of a room asks all in it: what they say is streamed, each with its speaker, until nobody has more to say.
 * On a terminal a run that waits asks the person there; elsewhere it is left waiting (exit code 2).
 */
export async function runPrompt({ message, agent, thread, json, onOutage }: RunPromptOptions): Promise<number> {
  const content = message || (process.stdin.isTTY ? "" : await readInput());
  if (!content.trim()) throw new InvalidInput('Enter a message, for example: ./colloquy run "add a task to buy milk"');
  const { server, isOwn, close } = await connect(loadConfig(), { runsJobs: true });
  const client = createClient(server);
  try {
    const threadId = thread ?? (await client.createThread({ title: content.slice(0, 80) })).id;
    const run = await client
      .startRun(threadId, { agent, content, held: true, ...(onOutage ? { options: { onOutage } } : {}) })
      .catch((error: unknown) => {
        if (!(error instanceof ColloquyError) || error.code !== "thread_is_room") throw error;
        throw new Conflict(`${threadId} is a room. To chat there, run: ./colloquy chat ${threadId}`, {
          code: error.code,
          cause: error,
        });
      });
    process.once("SIGINT", () => void client.cancel(run.id));
    return await followRun(client, run, processOutput(json, { isOwn }));
  } finally {
    await close();
  }
}

async function readInput(): Promise<string> {
  const limit = 1024 * 1024;
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > limit) throw new InvalidInput("The message on standard input exceeds 1 MB.");
  }
  return text;
}
