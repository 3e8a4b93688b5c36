import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { beginRemovingFiles, removeForgotten } from "../src/app/workspaces.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createWorkspaces, type Workspaces } from "../src/sandbox/workspace/workspaces.ts";
import { agentSchema } from "../src/protocol/agents/agents.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import { fileTools } from "../src/tools/built-in.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { anyDatabase } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";
import { startTestRuns } from "./runs.ts";
import { serveAgents } from "./serve-agents.ts";

/** The assistant hands the work over; the coder writes two files, and says so. */
function handOver({ messages, tools }: ModelRequest): ScriptAnswer {
  if (messages.at(-1)?.role === "tool") return "done";
  if (tools?.some(({ name }) => name === "delegate"))
    return [{ call: "delegate", arguments: { agent: "coder", task: "plot it" } }, { finish: "calls" }];
  return [
    { call: "write_file", arguments: { path: "plot.png", content: "pixels" } },
    { call: "write_file", arguments: { path: "notes.txt", content: "text" } },
    { finish: "calls" },
  ];
}
const coder = { id: "coder", model: "script", tools: ["write_file"] };

const newWorkspaces = () => createWorkspaces({ folder: temporaryFolder("scratch") });
const folderOf = async (workspaces: Workspaces, threadId: string) => (await workspaces.open(threadId)).folder;

anyDatabase((databases) => {
  test("a delegated run works in the files of the run at the root, and its result tells of them", async () => {
    const workspaces = newWorkspaces();
    const { ask, threads, caller, stop } = await startTestRuns({
      database: await databases.open(),
      script: handOver,
      tools: fileTools(workspaces),
      agent: { agents: ["coder"], tools: [] },
      agents: [coder],
    });
    const { started } = await ask("plot it");
    const { content } = await (await workspaces.open(started.threadId)).read("plot.png", { maxBytes: 100 });
    assert.equal(String(content), "pixels");
    const items = await threads.listItems(caller, started.threadId, {});
    const result = items.find((item) => item.kind === "result");
    const { files, thread } = result!.body.data as { thread: string; files: readonly { path: string }[] };
    assert.deepEqual(
      files.map(({ path }) => path),
      ["plot.png", "notes.txt"],
    );
    assert.equal(await threads.threadOfFiles(caller, thread), started.threadId);
    assert.equal(await workspaces.find(thread), undefined);
    await stop(0);
  });

  test("the files of a thread go with it, whoever removed it, also after a crash; those of others stay", async () => {
    const database = await databases.open();
    const workspaces = newWorkspaces();
    const { threads, caller, stop } = await startTestRuns({ database, script: () => "yes" });
    const [deleted, expired, kept] = await Promise.all([1, 2, 3].map(() => threads.createThread(caller, {})));
    const folders = [];
    for (const { id } of [deleted!, expired!, kept!]) folders.push(await folderOf(workspaces, id));
    await threads.deleteThread(caller, deleted!.id);
    await database.query("delete from threads where id = $1", [expired!.id]);
    // Its files are still there: whoever made it again would find them.
    await assert.rejects(threads.createThread(caller, { id: deleted!.id }), { code: "thread_not_found" });
    await removeForgotten(workspaces, { database, log: silentLog });
    assert.deepEqual(folders.map(existsSync), [false, false, true]);
    assert.equal((await threads.createThread(caller, { id: deleted!.id })).id, deleted!.id);
    assert.deepEqual(await database.query("select 1 from removed_threads"), []);
    await stop(0);
  });

  test("files that can't be removed keep no others from it, and are tried again", async () => {
    const database = await databases.open();
    const { threads, caller, stop } = await startTestRuns({ database, script: () => "yes" });
    const [stubborn, other] = await Promise.all([1, 2].map(() => threads.createThread(caller, {})));
    const release = async (folder: string) => {
      if (folder.endsWith(stubborn!.id)) throw new Error("busy");
    };
    const workspaces = createWorkspaces({ folder: temporaryFolder("scratch"), release });
    const folders = [];
    for (const { id } of [stubborn!, other!]) folders.push(await folderOf(workspaces, id));
    for (const { id } of [stubborn!, other!]) await threads.deleteThread(caller, id);
    const end = beginRemovingFiles(workspaces, { database, log: silentLog });
    await end();
    assert.deepEqual(folders.map(existsSync), [true, false]);
    const [left] = await database.query<{ later: boolean }>("select remove_at > now() as later from removed_threads");
    assert.deepEqual(left, { later: true });
    await stop(0);
  });

  test("a thread with a run at work keeps its files", async () => {
    const database = await databases.open();
    const workspaces = newWorkspaces();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<string>();
    const hold = defineTool({
      name: "hold",
      description: "Holds the run.",
      input: z.object({}),
      effect: "read",
      execute() {
        begun.resolve();
        return goOn.promise;
      },
    });
    const { runs, threads, caller, events, stop } = await startTestRuns({
      database,
      script: ({ messages }) =>
        messages.at(-1)?.role === "tool" ? "yes" : [{ call: "hold", arguments: {} }, { finish: "calls" }],
      tools: [hold],
    });
    const started = await runs.start(caller, { agent: "assistant", message: { content: "hi" } });
    const folder = await folderOf(workspaces, started.threadId);
    await begun.promise;
    await assert.rejects(threads.deleteThread(caller, started.threadId), { code: "thread_busy" });
    await removeForgotten(workspaces, { database, log: silentLog });
    assert.ok(existsSync(folder));
    goOn.resolve("go on");
    await events(started);
    await stop(0);
  });
});

test("images that calls made are shown where an answer is shown", async () => {
  const workspaces = newWorkspaces();
  const server = await serveAgents(
    handOver,
    {},
    {
      workspaces,
      tools: fileTools(workspaces),
      agents: [
        agentSchema.parse({ id: "painter", model: "default", agents: ["coder"], tools: [] }),
        agentSchema.parse({ ...coder, model: "default" }),
      ],
    },
  );
  try {
    const ask = (path: string, body: object) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const messages = [{ role: "user", content: "plot it" }];
    const whole = await (await ask("/v1/chat/completions", { model: "painter", messages })).json();
    const { content } = (whole as { choices: { message: { content: string } }[] }).choices[0]!.message;
    const [, link] = /^done\n\n!\[plot\.png\]\((\S+)\)$/.exec(content) ?? [];
    assert.equal(await (await fetch(link!)).text(), "pixels");
    const streamed = await (await ask("/v1/chat/completions", { model: "painter", messages, stream: true })).text();
    assert.match(streamed, /!\[plot\.png\]\(http/);
  } finally {
    await server.close();
  }
});
