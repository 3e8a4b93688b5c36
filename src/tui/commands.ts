import { basename, resolve } from "node:path";
import { writeFile } from "node:fs/promises";
import type { Chat } from "./chat.ts";
import { printable } from "./colours.ts";
import { promptOf } from "./read-decision.ts";

export type Command = {
  readonly name: string;
  readonly about: string;
  readonly run: (chat: Chat, rest: string) => Promise<void> | void;
};

const mostListed = 20;

/** What may be typed behind a slash. */
export const commands: readonly Command[] = [
  { name: "help", about: "what can be done here", run: (chat) => chat.note(help()) },
  { name: "agents", about: "who is here, and what they do", run: listAgents },
  { name: "model", about: "which model is asked; with its name, asks another one from here on", run: chooseModel },
  { name: "approve", about: "what waits for a decision; with y, n or a, decides the first", run: approve },
  { name: "stop", about: "stops whoever works, or only @agent", run: stop },
  { name: "continue", about: "goes on with what failed or was stopped last, where it was", run: goOn },
  { name: "files", about: "the files of this conversation; with a path, saves one here", run: files },
  { name: "resume", about: "the latest conversations; with a number or an id, goes on with one", run: resume },
  {
    name: "clear",
    about: "a new beginning; nothing is deleted",
    run: async (chat) => chat.move(await chat.place().clear()),
  },
  { name: "quit", about: "leave; what is at work goes on", run: (chat) => chat.quit() },
];

/** A line that begins with a slash. */
export async function runCommand(chat: Chat, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = commands.find((each) => each.name === name) ?? (name === "exit" ? commands.at(-1) : undefined);
  if (!command)
    return chat.note(`There is no command /${printable(name)}. /help lists them; // begins a message with a slash.`);
  await command.run(chat, rest.trim());
}

function help(): string {
  return [
    ...commands.map(({ name, about }) => `  /${name.padEnd(9)} ${about}`),
    "  Tab completes @names and commands. Alt+Enter begins a new line. ↑ brings back what was said.",
    "  Ctrl+C or Esc stops whoever works; Ctrl+C twice leaves. Ctrl+O shows the last result whole.",
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
      "others, by `colloquy chat <agent>`:",
      ...others.map(({ id, description }) => `  ${`@${id}`.padEnd(14)} ${printable(description)}`),
    ].join("\n"),
  );
}

async function chooseModel(chat: Chat, wanted: string): Promise<void> {
  const { members, model } = chat.place();
  const agents = new Map((await chat.client.agents()).map((agent) => [`@${agent.id}`, agent.model]));
  if (!model) {
    const lines = members.map(({ id, about }) => `  ${id.padEnd(14)} ${agents.get(id) ?? printable(about)}`);
    return chat.note([...lines, "In a room each agent has its own."].join("\n"));
  }
  const models = (await chat.client.models()).filter((id) => !agents.has(`@${id}`));
  const own = agents.get(members[0]?.id ?? "") ?? "default";
  if (wanted !== "") {
    if (wanted !== own && !models.includes(wanted))
      return chat.note(`There is no model "${printable(wanted)}" for you. /model lists yours.`);
    model.choose(wanted === own ? undefined : wanted);
    return chat.note(`From here on ${wanted} is asked.`);
  }
  const asked = model.chosen() ?? own;
  chat.note([...new Set([own, ...models])].map((id) => `  ${id === asked ? "▸" : " "} ${printable(id)}`).join("\n"));
}

async function approve(chat: Chat, rest: string): Promise<void> {
  const open = chat.conversation().open();
  if (open.length === 0) return chat.note("Nothing waits for a decision.");
  if (rest !== "") return chat.submit(rest);
  chat.note(open.map(({ body }) => promptOf(body)).join("\n"));
}

async function stop(chat: Chat, rest: string): Promise<void> {
  if (!(await chat.interrupt(rest === "" ? undefined : rest))) chat.note("Nobody is at work.");
}

/** The same run: what it has done is not done again. */
async function goOn(chat: Chat): Promise<void> {
  const last = [...chat.conversation().blocks()].findLast((block) => block.kind === "end");
  if (last?.kind !== "end" || last.status === "done") return chat.note("Nothing here has failed or was stopped.");
  const { rootRun } = await chat.client.run(last.run);
  await chat.client.resume(rootRun);
}

async function files(chat: Chat, path: string): Promise<void> {
  const workspace = chat.place().files();
  if (!workspace) return chat.note("Nothing has been said yet, so there are no files.");
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
  chat.note(lines.length === 0 ? "There are no files." : [...lines, ...(more ? ["  …"] : [])].join("\n"));
}

async function resume(chat: Chat, rest: string): Promise<void> {
  const threads = await chat.client.threads({ limit: mostListed });
  if (rest === "") {
    const lines = threads.map(({ title, updatedAt }, at) => {
      const when = updatedAt.slice(0, 16).replace("T", " ");
      return `${String(at + 1).padStart(3)}  ${when}  ${printable(title) || "(no title)"}`;
    });
    return chat.note([...lines, "/resume <number> goes on with one."].join("\n"));
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
