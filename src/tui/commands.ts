import { basename, resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import type { Chat } from "./chat.ts";
import { printable } from "./colours.ts";
import { promptOf } from "./read-decision.ts";

export type ChatCommand = {
  readonly name: string;
  readonly about: string;
  readonly run: (chat: Chat, rest: string) => Promise<void> | void;
};

const maxListed = 20;

/** What may be typed behind a slash. */
export const commands: readonly ChatCommand[] = [
  { name: "help", about: "list commands and keys", run: (chat) => chat.note(help()) },
  { name: "agents", about: "list the agents here and what they do", run: listAgents },
  { name: "model", about: "show the model; with a name, switch to another one", run: chooseModel },
  { name: "approve", about: "show pending decisions; with y, n or a, decide the first", run: approve },
  { name: "stop", about: "stop all agents, or only @agent", run: stop },
  { name: "continue", about: "continue the last failed or stopped run", run: goOn },
  { name: "files", about: "list this conversation's files; with a path, download one", run: files },
  { name: "resume", about: "list recent conversations; with a number or id, continue one", run: resume },
  {
    name: "clear",
    about: "start a new conversation; nothing is deleted",
    run: async (chat) => chat.move(await chat.place().clear()),
  },
  { name: "quit", about: "quit; runs continue", run: (chat) => chat.quit() },
];

/** A line that begins with a slash. */
export async function runCommand(chat: Chat, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commands.find((each) => each.name === name) ?? (name === "exit" ? commands.at(-1) : undefined);
  if (!command)
    return chat.note(
      `Unknown command /${printable(name)}. Type /help for a list, or // to start a message with a slash.`,
    );
  await command.run(chat, rest.trim());
}

function help(): string {
  return [
    ...commands.map(({ name, about }) => `  /${name.padEnd(9)} ${about}`),
    "  Tab completes @names and commands. Alt+Enter starts a new line. ↑ recalls earlier messages.",
    "  Ctrl+C or Esc stops all agents; Ctrl+C twice quits. Ctrl+O shows the last result in full.",
  ].join("\n");
}

async function listAgents(chat: Chat): Promise<void> {
  const place = chat.place();
  const here = place.members.map(({ id, about }) => `  ${id.padEnd(14)} ${printable(about)}`);
  if (place.kind === "room") return chat.note(here.join("\n"));
  const all = await chat.client.agents();
  const others = all.filter(({ id }) => `@${id}` !== place.members[0]?.id);
  chat.note(
    [
      ...here,
      "other agents, with `./colloquy chat <agent>`:",
      ...others.map(({ id, description }) => `  ${`@${id}`.padEnd(14)} ${printable(description)}`),
    ].join("\n"),
  );
}

async function chooseModel(chat: Chat, wanted: string): Promise<void> {
  const { members, model } = chat.place();
  const agents = new Map((await chat.client.agents()).map((agent) => [`@${agent.id}`, agent.model]));
  if (!model) {
    const lines = members.map(({ id, about }) => `  ${id.padEnd(14)} ${agents.get(id) ?? printable(about)}`);
    return chat.note([...lines, "In a room, each agent has its own model."].join("\n"));
  }
  const models = (await chat.client.models()).filter((id) => !agents.has(`@${id}`));
  const own = agents.get(members[0]?.id ?? "") ?? "default";
  if (wanted !== "") {
    if (wanted !== own && !models.includes(wanted))
      return chat.note(`Unknown model "${printable(wanted)}". Type /model for a list.`);
    model.choose(wanted === own ? undefined : wanted);
    return chat.note(`Switched to ${wanted}.`);
  }
  const asked = model.chosen() ?? own;
  chat.note([...new Set([own, ...models])].map((id) => `  ${id === asked ? "▸" : " "} ${printable(id)}`).join("\n"));
}

async function approve(chat: Chat, rest: string): Promise<void> {
  const open = chat.conversation().open();
  if (open.length === 0) return chat.note("No pending decisions.");
  if (rest !== "") return chat.submit(rest);
  chat.note(open.map(({ body }) => promptOf(body)).join("\n"));
}

async function stop(chat: Chat, rest: string): Promise<void> {
  if (!(await chat.interrupt(rest === "" ? undefined : rest))) chat.note("No agents are running.");
}

/** The same run: what it has done is not done again. */
async function goOn(chat: Chat): Promise<void> {
  const last = [...chat.conversation().blocks()].findLast((block) => block.kind === "end");
  if (last?.kind !== "end" || last.status === "done") return chat.note("No failed or stopped run here.");
  const { rootRun } = await chat.client.run(last.run);
  await chat.client.resume(rootRun);
}

async function files(chat: Chat, path: string): Promise<void> {
  const workspace = chat.place().files();
  if (!workspace) return chat.note("No files: this conversation hasn't started yet.");
  if (path !== "") {
    const bytes = await workspace.download(path);
    const target = resolve(basename(path));
    // What is there already is not this conversation's to replace.
    await writeFile(target, bytes, { flag: "wx" });
    return chat.note(`saved as ${target}`);
  }
  const { data, more } = await workspace.list();
  const lines = data.map(
    (file) => `  ${file.kind === "folder" ? "       " : size(file.bytes)}  ${printable(file.path)}`,
  );
  chat.note(lines.length === 0 ? "No files." : [...lines, ...(more ? ["  …"] : [])].join("\n"));
}

async function resume(chat: Chat, rest: string): Promise<void> {
  const threads = await chat.client.threads({ limit: maxListed });
  if (rest === "") {
    const lines = threads.map(({ title, updatedAt }, at) => {
      const when = updatedAt.slice(0, 16).replace("T", " ");
      return `${String(at + 1).padStart(3)}  ${when}  ${printable(title) || "(no title)"}`;
    });
    return chat.note([...lines, "Type /resume <number> to continue one."].join("\n"));
  }
  const chosen = threads[Number(rest) - 1]?.id ?? rest;
  await chat.move(await chat.place().resume(chosen));
}

function size(bytes: number): string {
  const text =
    bytes < 1024
      ? `${bytes} B`
      : bytes < 1024 ** 2
        ? `${Math.round(bytes / 1024)} KB`
        : `${Math.round(bytes / 1024 ** 2)} MB`;
  return text.padStart(7);
}
