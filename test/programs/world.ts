/**
 * A model, a server and a program, in one process tree that may stand where no way leads out (enter-world.ts). Plays the scenes of its
 * first argument and writes what became of each as a line of JSON.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ServerAnswer } from "../model-servers/answers.ts";
import { type SeenRequest, startModelServer } from "../model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "../pglite.ts";
import { startServerProcess } from "../server-process.ts";
import { createTaskClient } from "../../src/client/tasks.ts";
import { type ProgramName, programs } from "./programs.ts";
import type { Scene, Told } from "./scenes.ts";

type Play = { readonly name: ProgramName; readonly path: string; readonly scenes: readonly Scene[] };
const { name, path, scenes } = JSON.parse(process.argv[2]!) as Play;
const program = programs[name];
const shell = program.shell("echo made >> made.txt; cat made.txt");
const secondsForEach = 60;
const models = { model: "default", agent: "assistant", room: "desk" };

const model = await startModelServer();
const [place, home] = [temporaryFolder("place"), temporaryFolder("home")];
for (const folder of ["agents", "rooms"]) mkdirSync(join(place, folder));
const files = {
  "colloquy.yaml": `models:
  - { id: default, provider: openai, model: served, baseUrl: "${model.url}/v1", apiKey: none, contextTokens: 200000 }
`,
  "agents/careful.md": "---\ntools: [add_task]\napproval: { ask: [add_task] }\n---\nYou are careful.\n",
  "rooms/desk.yaml": "members:\n  - { agent: careful, activation: always }\n",
};
for (const [file, content] of Object.entries(files)) writeFileSync(join(place, file), content);
const env: Record<string, string> = { COLLOQUY_DATA: await freshDataDirectory() };
const options = { cwd: place, env, preload: [join(import.meta.dirname, "note-requests.ts")] };
let server = await startServerProcess(options);
env["COLLOQUY_PORT"] = new URL(server.url).port;

/** Answers as the scene needs it: the agent notes a task, the program runs its command, then comes the last answer. */
function createScript({ target, does }: Scene) {
  const counts = { finals: 0 };
  const begun = Promise.withResolvers<void>();
  const answer = ({ body }: SeenRequest): string | ServerAnswer => {
    const tools = (body["tools"] ?? []) as readonly { readonly function: { readonly name: string } }[];
    const has = (tool: string) => tools.some((each) => each.function.name === tool);
    const messages = body["messages"] as readonly { readonly role: string }[];
    const results = messages.filter(({ role }) => role === "tool").length;
    const task = { id: "call_task", name: "add_task", arguments: { title: `${does} ${target}` } };
    // What it asks beside the conversation, such as for a title.
    if (!has(target === "model" ? shell.name : task.name)) return "A title";
    const isTalk = does === "talk" || (target === "room" && does === "kill");
    if (!isTalk && target !== "model" && results === 0) return { text: "Noting.", calls: [task] };
    if (!isTalk && does !== "approval" && results === (target === "model" ? 0 : 1))
      return { text: "Running.", calls: [{ ...shell, id: "call_shell" }] };
    counts.finals++;
    if (does !== "kill" || counts.finals > 1) return { text: ["It ", "is ", "made."] };
    begun.resolve();
    return { text: ["It ", "is "], fault: "hang" };
  };
  return { answer, counts, begun: begun.promise };
}

async function play(scene: Scene): Promise<Told> {
  const { target, does } = scene;
  const { answer, counts, begun } = createScript(scene);
  model.always(answer);
  const work = temporaryFolder("work");
  const named = does === "approval" && target === "agent" ? "careful" : models[target];
  const { args, env: own } = program.configure({ home, work, url: server.url, model: named });
  const asked: string[] = [];
  let seen = server.output().length;
  const takeRequests = () => {
    asked.push(
      ...[
        ...server
          .output()
          .slice(seen)
          .matchAll(/^asked (.*)$/gm),
      ].map(([, line]) => line!),
    );
    seen = 0;
  };
  const late = AbortSignal.timeout(secondsForEach * 1000);
  const child = spawn(path, [...args, "Make it."], {
    cwd: work,
    // Nothing of this user's, and no way out but to this machine.
    env: { PATH: process.env["PATH"]!, HOME: home, HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1", ...own },
    stdio: ["ignore", "pipe", "pipe"],
    signal: late,
    killSignal: "SIGKILL",
  });
  child.on("error", () => undefined);
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);

  let killed = 0;
  if (does === "kill") {
    await Promise.race([begun, ended]);
    const running = await server.client.runs({ status: "running" });
    killed = running.filter(({ parentRun }) => parentRun === null).length;
    // In a room its member speaks.
    await saidIn((running.find(({ parentRun }) => parentRun !== null) ?? running[0]!).id, late);
    await server.end("SIGKILL");
    takeRequests();
    server = await startServerProcess(options);
  }
  const [output, errors, [code]] = await ended;
  if (does === "approval") await allowAll(late);
  takeRequests();
  const { data: tasks } = await createTaskClient({ url: server.url }).list({ status: "all" });
  const file = join(work, "made.txt");
  return {
    ...{ ...scene, code: code as number | null, output, errors, finals: counts.finals, killed },
    made: existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0,
    tasks: tasks.filter(({ title }) => title === `${does} ${target}`).length,
    asked: asked.map((line) => (JSON.parse(line) as { readonly headers: Record<string, string> }).headers),
  };
}

/** Until the words of the last answer are told. */
async function saidIn(run: string, signal: AbortSignal): Promise<void> {
  for await (const { event } of server.client.follow(run, { signal }))
    if (event.type === "text-delta" && event.text.includes("is ")) return;
}

/** Allows what is asked, and waits for the end of the runs that asked. */
async function allowAll(signal: AbortSignal): Promise<void> {
  for (const question of await server.client.questions()) {
    await server.client.decide(question, { decision: "allow" });
    for await (const { event } of server.client.follow(question.runId!, { signal }))
      if (event.type === "run-end") break;
  }
}

for (const scene of scenes) console.log(JSON.stringify(await play(scene)));
await server.end("SIGTERM");
await model.close();
process.exit();
