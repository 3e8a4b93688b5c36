import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Client } from "../src/client/client.ts";
import { ColloquyError } from "../src/protocol/base/errors.ts";
import { textOf } from "../src/protocol/threads/items.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { startOwnPostgres } from "./postgres.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { makeSmallDisk, type SmallDisk } from "./small-disk.ts";

const megabyte = 1024 * 1024;
/** Free for messages. With one the tables are what finds no room, with the other the log of changes, without which no database goes on. */
const rooms = [24, 16];

type Accepted = { readonly runId: string; readonly threadId: string; readonly content: string };
type Place = {
  readonly disk: SmallDisk;
  readonly room: number;
  readonly start: () => Promise<ServerProcess>;
  readonly isUp?: () => Promise<boolean>;
};

for (const room of rooms) {
  const title = (kind: string) =>
    `on a full disk nothing is accepted that is not kept, and after it all goes on (${kind}, ${room} MB)`;

  test(title("pglite"), { timeout: 300_000 }, async (context) => {
    const disk = await diskOf(context, 160);
    if (!disk) return;
    cpSync(await freshDataDirectory(), join(disk.outside, "data"), { recursive: true });
    const env = { COLLOQUY_DATA: join(disk.path, "data") };
    await fillAndGoOn({ disk, room: room * megabyte, start: () => startOn(context, { env, within: disk.within }) });
  });

  test(title("postgres"), { timeout: 300_000 }, async (context) => {
    if (process.getuid?.() !== 0) return context.skip("only root gives PostgreSQL a disk of its own");
    const disk = await diskOf(context, 256);
    if (!disk) return;
    const settings = { synchronous_commit: "on", full_page_writes: "on", min_wal_size: "32MB", max_wal_size: "48MB" };
    const postgres = await startOwnPostgres({ disk, settings });
    context.after(() => postgres.stop());
    const { pathname } = new URL(await postgres.createDatabase());
    const data = temporaryFolder("disk-data");
    let url = new URL(postgres.url);
    const start = async () => {
      // Without room for its log of changes it ends, and an operator who has made room starts it again.
      if (!(await postgres.answers())) url = new URL(await postgres.startAgain());
      url.pathname = pathname;
      return startOn(context, { env: { COLLOQUY_DATA: data, DATABASE_URL: url.href } });
    };
    await fillAndGoOn({ disk, room: room * megabyte, start, isUp: postgres.answers });
  });
}

async function diskOf(context: TestContext, megabytes: number): Promise<SmallDisk | undefined> {
  const disk = await makeSmallDisk(megabytes);
  if ("reason" in disk) return void context.skip(disk.reason);
  context.after(() => disk.close());
  return disk;
}

async function fillAndGoOn({ disk, room, start, isUp }: Place): Promise<void> {
  const server = await start();
  const accepted = [await send(server.client)];
  const ballast = join(disk.outside, "ballast");
  writeFileSync(ballast, Buffer.alloc(Math.max(0, freeBytes(disk.outside) - room)));
  const refusals: ColloquyError[] = [];
  while (refusals.length < 5 && !server.ended()) {
    assert(accepted.length < 2000, "the disk does not become full");
    try {
      accepted.push(await send(server.client));
    } catch (error) {
      assert(error instanceof ColloquyError);
      refusals.push(error);
      if (error.code === "unreachable") await server.gone;
    }
  }
  assert(accepted.length > 10, `only ${accepted.length} messages had room`);
  // Either it says what is wrong, or it has ended, which says it too.
  for (const { code, status, message } of refusals)
    assert.match(
      code,
      /^(disk_full|database_failed|database_unavailable|database_silent|unreachable)$/,
      `${status} ${message}`,
    );
  assert(refusals.some(({ code }) => /^(disk_full|database_)/.test(code)) || server.ended(), server.output());

  rmSync(ballast);
  if (!server.ended() && (await isUp?.()) !== false) accepted.push(await send(server.client));
  await server.end("SIGTERM");
  const again = await start();
  for (const one of accepted) await assertKept(again.client, one);
  // It is in order, and takes new messages.
  const trouble = (await again.client.examine()).filter(({ grade, about }) => grade === "trouble" && about !== "disk");
  assert.deepEqual(trouble, []);
  await assertKept(again.client, await send(again.client));
}

/** Each has a thread of its own, so that none waits for another, and no pattern that would make it small. */
async function send(client: Client): Promise<Accepted> {
  const content = `hello ${randomBytes(150_000).toString("base64")}`;
  const thread = await client.createThread();
  const run = await client.startRun(thread.id, { agent: "assistant", content });
  return { runId: run.id, threadId: thread.id, content };
}

async function assertKept(client: Client, { runId, threadId, content }: Accepted): Promise<void> {
  for await (const { event } of client.follow(runId))
    if (event.type === "run-end") assert.equal(event.status, "done", JSON.stringify(event));
  const items = await client.items(threadId);
  assert.deepEqual(
    items.map(({ seq }) => seq),
    items.map((_, index) => index + 1),
  );
  const said = items.flatMap((item) =>
    item.kind === "message" && item.body.role === "user" ? [textOf(item.body.content)] : [],
  );
  assert.deepEqual(said, [content]);
}

async function startOn(
  context: TestContext,
  { env, within = [] }: { readonly env: Readonly<Record<string, string>>; readonly within?: readonly string[] },
): Promise<ServerProcess> {
  const cwd = temporaryFolder("disk");
  const server = await startServerProcess({ cwd, env: { ...env, COLLOQUY_LOG_LEVEL: "warn" }, within });
  context.after(() => server.end("SIGKILL"));
  return server;
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
