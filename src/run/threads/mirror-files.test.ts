import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataDirectory } from "../../../test/pglite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { ensureGuest, ensureOwner } from "../../store/people/users.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { openDatabase } from "../../store/driver/open.ts";

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
