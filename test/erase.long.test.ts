import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { promisify } from "node:util";
import { callerOf } from "../src/protocol/base/callers.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { createUser, findUser } from "../src/store/people/users.ts";
import { anyDatabase, type Place } from "./databases.ts";
import { startErasing } from "./erasure-parts.ts";
import { temporaryFolder } from "./pglite.ts";
import { until } from "./run-suite.ts";

const program = join(import.meta.dirname, "erase-until-killed.ts");

anyDatabase((databases) => {
  test("an erasure that is killed again and again, at its writes, comes to its end, and leaves nothing behind", async () => {
    const place = await databases.place();
    const folder = temporaryFolder("erased");
    const { eve, theirs } = await seed(place, folder);
    // Each begins where the one before was killed, so steps of several writes do; on PGlite a start takes seconds.
    const stride = databases.kind === "pglite" ? 9 : 3;
    let kills = 0;
    for (let killAt = 1; ; killAt += stride) {
      const how = JSON.stringify({ place, folder, killAt });
      const ended = await promisify(execFile)(process.execPath, [
        "--disable-warning=ExperimentalWarning",
        program,
        how,
      ]).catch((error: { signal?: string }) => error);
      if ("stdout" in ended && ended.stdout === "done\n") break;
      assert.equal((ended as { signal?: string }).signal, "SIGKILL", JSON.stringify(ended));
      kills++;
    }
    assert.ok(kills >= 5, String(kills));

    const database = await openDatabase(place);
    const { query } = database;
    try {
      assert.equal(await findUser(query, eve), undefined);
      for (const table of [
        "threads",
        "runs",
        "uploads",
        "removed_threads",
        "grants",
        "schedules",
        "model_calls",
        "audit_log",
      ])
        assert.deepEqual(await query(`select 1 from ${table} where user_id = $1`, [eve]), [], table);
      assert.deepEqual(await query("select 1 from audit_log where user_name = 'eve'"), []);
      const items = await query<{ seq: number; author: string | null; body: object }>(
        "select seq, author, body from items where thread_id = $1 order by seq",
        [theirs],
      );
      assert.deepEqual(
        items.filter(({ body }) => "erased" in body).map(({ seq, author }) => [seq, author]),
        [
          [4, null],
          [5, null],
        ],
      );
      // What a process was killed over is of what was there then.
      const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
      assert.ok(files.some(({ name }) => name === `${theirs}.json`));
      for (const { name, parentPath } of files) {
        assert.ok(name.startsWith(`${theirs}.json`), name);
        assert.ok(!readFileSync(join(parentPath, name), "utf8").includes("eve"), name);
      }
      for (const { name, broken } of await checkInvariants(query)) assert.equal(broken, 0, name);
    } finally {
      await database.close();
    }
  });
});

/** Somebody who has conversations, one at work, one with waiting messages, files, and who spoke in a conversation of another. */
async function seed(place: Place, folder: string) {
  const database = await openDatabase(place);
  await migrate(database);
  const { query } = database;
  const { service, uploads, workspaces } = await startErasing(database, {
    folder,
    script: ({ messages }) => (JSON.stringify(messages.at(-1)).includes("hang") ? [{ hang: true }] : [{ text: "yes" }]),
  });
  const { id: eve } = await createUser(query, { name: "eve", role: "user" });
  const caller = { ...callerOf((await findUser(query, eve))!, "api-key"), permissions: ["*"] };
  const ask = async (content: string, threadId?: string) => {
    const started = await service.runs.start(caller, {
      agent: "assistant",
      message: { content },
      ...(threadId === undefined ? {} : { threadId }),
    });
    return started;
  };
  for (let at = 0; at < 3; at++) {
    const started = await ask("eve speaks");
    await service.events(started);
    await (await workspaces.open(started.threadId)).write("a.txt", "eve's");
  }
  const busy = await ask("hang");
  await until(() => service.model.requests.some((request) => JSON.stringify(request).includes("hang")));
  await ask("later", busy.threadId);
  for (const name of ["one", "two"]) await uploads.receive(caller, { name, bytes: Readable.from([Buffer.from(name)]) });
  await service.schedules.create(caller, { agent: "assistant", prompt: "hi", cron: "0 0 1 1 *", timeZone: "UTC" });
  await query(
    `insert into audit_log (id, user_id, user_name, via, address, method, path, status, request_id)
     values ($1, $2, 'eve', 'api-key', '::1', 'DELETE', '/api/files/eve.txt', 204, '')`,
    [newId(), eve],
  );
  const { started } = await service.ask("hi");
  const theirs = started.threadId;
  await query("update threads set next_seq = next_seq + 2 where id = $1", [theirs]);
  await query(
    `insert into items (thread_id, seq, id, user_id, kind, author, body) values
     ($1, 4, $2, $4, 'message', 'eve', '{"role": "user", "content": "eve was here"}'),
     ($1, 5, $3, $5, 'summary', null, '{"content": "eve said things", "upToSeq": 4}')`,
    [theirs, newId(), newId(), eve, service.caller.userId],
  );
  await until(() => globSync("sessions/*.json", { cwd: folder }).length >= 5);
  await service.erasure.rewriteFile(theirs);
  // Asked for, but not begun: that is for the processes.
  await database.query("update users set disabled = true where id = $1", [eve]);
  await query("insert into erasures (id, user_id) values ($1, $2)", [newId(), eve]);
  await service.stop(0);
  await database.close();
  return { eve, theirs };
}
