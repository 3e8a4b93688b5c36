import { styleText } from "node:util";
import { createClient, type Client } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { loadConfig } from "./config.ts";
import { InvalidInput } from "./protocol/errors.ts";
import type { RunEvent } from "./protocol/events.ts";

export type RunPromptOptions = {
  readonly message: string;
  readonly agent: string;
  readonly thread?: string;
  readonly json: boolean;
};

/** Asks an agent and streams its answer: text to standard output, what it does to standard error. Ctrl+C cancels the run. */
export async function runPrompt({ message, agent, thread, json }: RunPromptOptions): Promise<number> {
  const content = message || (process.stdin.isTTY ? "" : await readInput());
  if (!content.trim()) throw new InvalidInput('What shall the agent do? colloquy run "add a task to buy milk"');
  const { server, close } = await connect(loadConfig());
  const client = createClient(server);
  try {
    const threadId = thread ?? (await client.createThread({ title: content.slice(0, 80) })).id;
    const run = await client.startRun(threadId, { agent, content });
    process.once("SIGINT", () => void client.cancel(run.id));
    return await follow(client, run, json);
  } finally {
    await close();
  }
}

async function follow(
  client: Client,
  run: { readonly id: string; readonly cursor: string },
  json: boolean,
): Promise<number> {
  let atLineStart = true;
  const print = (event: RunEvent) => {
    if (json) {
      console.log(JSON.stringify(event));
      return;
    }
    if (event.type === "text-delta") {
      process.stdout.write(event.text);
      atLineStart = event.text.endsWith("\n");
      return;
    }
    const text = activity(event);
    if (text === undefined) return;
    if (!atLineStart) process.stdout.write("\n");
    atLineStart = true;
    process.stderr.write(`${text}\n`);
  };
  for await (const { event } of client.follow(run.id, { cursor: run.cursor })) {
    print(event);
    if (event.type !== "run-end" && event.type !== "run-wait") continue;
    if (!json && !atLineStart) process.stdout.write("\n");
    return event.type === "run-end" && event.status === "done" ? 0 : 1;
  }
  return 1;
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
    case "run-wait":
      return `The run waits: ${event.text ?? event.reason}`;
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

async function readInput(): Promise<string> {
  const limit = 1024 * 1024;
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > limit) throw new InvalidInput("The message on standard input is longer than 1 MB.");
  }
  return text;
}
