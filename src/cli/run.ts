import { createClient } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { followRun, processOutput } from "./cli-follow.ts";
import { loadConfig } from "./config.ts";
import { InvalidInput } from "./protocol/errors.ts";

export type RunPromptOptions = {
  readonly message: string;
  readonly agent: string;
  readonly thread?: string;
  readonly json: boolean;
};

/**
 * Asks an agent and streams its answer: text to standard output, what it does to standard error. Ctrl+C cancels the run.
 * On a terminal a run that waits asks the person there; elsewhere it is left waiting (exit code 2).
 */
export async function runPrompt({ message, agent, thread, json }: RunPromptOptions): Promise<number> {
  const content = message || (process.stdin.isTTY ? "" : await readInput());
  if (!content.trim()) throw new InvalidInput('What shall the agent do? colloquy run "add a task to buy milk"');
  const { server, close } = await connect(loadConfig(), { works: true });
  const client = createClient(server);
  try {
    const threadId = thread ?? (await client.createThread({ title: content.slice(0, 80) })).id;
    const run = await client.startRun(threadId, { agent, content });
    process.once("SIGINT", () => void client.cancel(run.id));
    return await followRun(client, run, processOutput(json));
  } finally {
    await close();
  }
}

async function readInput(): Promise<string> {
  const limit = 1024 * 1024;
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > limit) throw new InvalidInput("The message on standard input is longer than 1 MB.");
  }
  return text;
}
