import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataDirectory } from "../../../test/pglite.ts";
import { until } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { newId } from "../../protocol/base/ids.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { ensureGuest, ensureOwner } from "../../store/people/users.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";
import { extendSessionFile, type SessionMessage, writeSessionFile } from "./session-file.ts";

type File = { readonly session_id: string; readonly messages: readonly { role: string; content: string }[] };

test("each session is a file too: what was said on the shown branch, under its name or its thread's id", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), "sessions-")), "sessions");
  const database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(database);
  const { id: namedFor } = await ensureOwner(database.query);
  const guest = callerOf(await ensureGuest(database.query), "local");
  const begin = () => startTestRuns({ database, script: () => "hello", mirror: { folder, namedFor } });
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), "utf8")) as File;
  const say = async (
    service: Awaited<ReturnType<typeof begin>>,
    sessionKey: string,
    content: string,
    as = service.caller,
  ) => {
    const started = await service.runs.start(as, { agent: "assistant", sessionKey, message: { content } });
    await service.events(started);
    return started.threadId;
  };

  const first = await begin();
  const threadId = await say(first, "my-chat", "hi");
  const odd = await say(first, "../../../tmp/out", "out");
  const likeAnId = await say(first, newId(), "under the id of another thread");
  const ofGuest = await say(first, "my-chat", "hi, from somebody else", guest);
  await first.stop(1000);
  assert.deepEqual(
    (await readdir(folder)).sort(),
    [`${odd}.json`, `${ofGuest}.json`, `${likeAnId}.json`, "my-chat.json"].sort(),
  );
  const file = await read("my-chat.json");
  assert.equal(file.session_id, "my-chat");
  assert.deepEqual(
    file.messages.map(({ role, content }) => [role, content]),
    [
      ["user", "hi"],
      ["assistant", "hello"],
    ],
  );

  // A process that died before it wrote: the next one does.
  await writeFile(join(folder, "my-chat.json"), "{}");
  for (const name of await readdir(folder)) await utimes(join(folder, name), 1, 1);
  const second = await begin();
  await say(second, "other", "hi");
  await second.stop(1000);
  assert.equal((await read("my-chat.json")).messages.length, 2);
  assert.equal((await read("other.json")).messages.length, 2);

  const third = await begin();
  const [asked] = await third.threads.listBranch(third.caller, threadId);
  const message = { content: "good day" };
  await third.threads.editMessage(third.caller, { threadId, message, instead: asked!.id });
  const copy = await third.threads.forkThread(third.caller, threadId);
  await third.stop(1000);
  for (const name of ["my-chat", copy.id])
    assert.deepEqual(
      (await read(`${name}.json`)).messages.map(({ content }) => content),
      ["good day", "hello"],
    );

  const last = await begin();
  await last.threads.deleteThread(last.caller, threadId);
  await last.stop(1000);
  assert.ok(!(await readdir(folder)).includes("my-chat.json"));
  await database.close();
});

test("a message is written behind the others, without reading the thread; what changes the rest writes the file anew", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), "sessions-")), "sessions");
  const open = await openDatabase({ dataDirectory: await freshDataDirectory() });
  await migrate(open);
  let looks = 0;
  const query: Query = (text, values) => {
    looks++;
    return open.listing.query(text, values);
  };
  const database = { ...open, listing: { ...open.listing, query } };
  const service = await startTestRuns({ database, script: () => "hello", mirror: { folder } });
  await until(() => looks > 0, "the look for sessions without files");
  const { started } = await service.ask("first");
  const { threadId } = started;
  const path = join(folder, `${threadId}.json`);
  // A read in the instant of a write may meet a document without its end.
  const read = () =>
    readFile(path, "utf8")
      .then((text) => JSON.parse(text) as File & { title: string })
      .catch(() => undefined);
  const contents = (file: File | undefined) => file?.messages?.map(({ content }) => content).join(" ");
  const written = async (expected: string) => {
    await until(async () => contents(await read()) === expected, expected);
    return stat(path);
  };
  const first = await written("first hello");
  looks = 0;
  await service.ask("second", { threadId });
  const second = await written("first hello second hello");
  assert.equal(second.ino, first.ino);
  assert.equal(looks, 0);

  await service.threads.renameThread(service.caller, threadId, "A new name");
  await until(async () => (await read())?.title === "A new name", "the new name");

  // Somebody keeps it under version control, and takes an older one out.
  await writeFile(path, "{}");
  await service.ask("third", { threadId });
  const third = await written("first hello second hello third hello");

  const [asked] = await service.threads.listBranch(service.caller, threadId);
  await service.threads.editMessage(service.caller, { threadId, message: { content: "1st" }, instead: asked!.id });
  const edited = await written("1st hello second hello third hello");
  assert.notEqual(edited.ino, third.ino);
  await service.ask("fourth", { threadId });
  assert.equal((await written("1st hello second hello third hello fourth hello")).ino, edited.ino);

  const [begun] = await service.threads.listBranch(service.caller, threadId);
  const again = { agent: "assistant", threadId, message: { content: "anew" }, instead: begun!.id };
  await service.events(await service.runs.start(service.caller, again));
  await written("anew hello");
  await service.stop(1000);
  await open.close();
});

test("a file is extended by what was said, in the form in which it would be written whole", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sessions-"));
  const say = (count: number, from = 0): SessionMessage[] =>
    Array.from({ length: count }, (_, n) => ({
      role: "user",
      content: `${from + n}: ü "quoted"\n and more`,
      timestamp: new Date(from + n).toISOString(),
    }));
  const head = { name: "chat", title: 'ü "updated_at": "', updated: new Date(1) };
  for (const count of [1, 2, 600]) {
    const [one, other] = [join(folder, `${count}.json`), join(folder, "whole.json")];
    const before = await writeSessionFile(one, head, say(count));
    const after = await extendSessionFile(before, new Date(2), say(3, count));
    await writeSessionFile(other, { ...head, updated: new Date(2) }, say(count + 3));
    assert.equal(await readFile(one, "utf8"), await readFile(other, "utf8"));
    assert.equal(after!.messages, count + 3);
    assert.equal(await extendSessionFile(before, new Date(3), say(1)), undefined);
  }
});
