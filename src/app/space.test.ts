import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { anyDatabase } from "../../test/databases.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { makeSmallDisk } from "../../test/small-disk.ts";
import { newId } from "../protocol/base/ids.ts";
import { silentLog } from "../protocol/base/log.ts";
import { createSpace } from "../sandbox/workspace/space.ts";
import { createWorkspaces } from "../sandbox/workspace/workspaces.ts";
import { createDocumentFiles } from "../knowledge/documents/document-files.ts";
import { checkDiskBy, openWorkspaceTotals } from "./space.ts";

const megabyte = 1024 ** 2;

anyDatabase((databases) => {
  test("all conversations of a person, and all of a server, hold no more than they may together", async () => {
    const { query } = await databases.lend();
    const [ada, ben] = [newId(), newId()];
    const threads = { ada: [newId(), newId(), newId()], ben: [newId()] };
    await query("insert into users (id, name, role) values ($1, 'ada', 'user'), ($2, 'ben', 'user')", [ada, ben]);
    for (const [user, ids] of [[ada, threads.ada] as const, [ben, threads.ben] as const])
      for (const id of ids) await query("insert into threads (id, user_id) values ($1, $2)", [id, user]);

    const data = temporaryFolder("data");
    const folder = join(data, "scratch");
    // Written before this process has begun.
    const earlier = await createWorkspaces({ folder }).open(threads.ada[0]!);
    await earlier.write("a", Buffer.alloc(megabyte));

    const opened = openWorkspaceTotals({ data, sandbox: { userMb: 3, totalMb: 4 } });
    const workspaces = createWorkspaces({ folder, space: createSpace({ totals: opened.totals }) });
    const stop = opened.begin(workspaces, { query, log: silentLog });
    while (opened.state().workspaces < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const write = async (thread: string, name: string, megabytes: number) =>
      (await workspaces.open(thread)).write(name, Buffer.alloc(megabytes * megabyte));

    await write(threads.ada[1]!, "b", 1.5);
    await assert.rejects(write(threads.ada[2]!, "c", 1), /files of your conversations may hold 3 MB together/);
    await write(threads.ben[0]!, "d", 1);
    await assert.rejects(
      write(threads.ben[0]!, "e", 1),
      /workspaces of this server are full: together they may hold 4 MB/,
    );
    // Room that is made in one is there for the others.
    await workspaces.remove(threads.ada[0]!);
    await write(threads.ada[2]!, "c", 1);
    // The folder of a program that no conversation has asked for.
    const [left] = await opened.totals.leftFor(join(data, "colloquy-python-x1"), new Map());
    assert.match(left!.words, /workspaces of this server are full/);
    await stop();
  });
});

test("a workspace leaves free of its disk what must stay free", async (context) => {
  const disk = await makeSmallDisk(20);
  if ("reason" in disk) return context.skip(disk.reason);
  context.after(disk.close);
  // Of so small a disk a tenth.
  const space = createSpace({ keepFreeBytes: 100 * megabyte });
  const workspace = await createWorkspaces({ folder: join(disk.outside, "scratch"), space }).open(newId());
  await workspace.write("a", Buffer.alloc(10 * megabyte));
  await assert.rejects(workspace.write("b", Buffer.alloc(9 * megabyte)), /the server's disk is nearly full/);
  await workspace.remove("a");
  await workspace.write("b", Buffer.alloc(9 * megabyte));
  const { free, least } = await space.keepFree(disk.outside);
  assert.ok(free >= least, `${free} of ${least} bytes`);

  await writeFile(join(disk.outside, "others"), Buffer.alloc(free - least + megabyte));
  const bytes = (async function* () {
    yield Buffer.alloc(1);
  })();
  const files = createDocumentFiles({
    folder: join(disk.outside, "rag_documents"),
    documentBytes: megabyte,
    checkDisk: checkDiskBy(space),
  });
  await assert.rejects(files.receive(bytes), /the server's disk is nearly full, so it takes no files/i);
});
