import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../../test/databases.ts";
import { listWorld } from "../../../../test/list-world.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { ListedThread } from "../../../protocol/threads/threads.ts";

eachDatabase((databases) => {
  const world = listWorld(databases);
  const { ask, askOther, folder, thread, list, idsOf, bulk, empty, room } = world;

  test("many are changed by one request, each told apart", async () => {
    await empty();
    const { id: folderId } = await folder("many");
    const ids = [];
    for (let at = 0; at < 120; at++) ids.push((await world.server.threads.createThread(world.server.caller, {})).id);
    const foreign = (await askOther<ListedThread>("POST", "/api/threads", {})).body.id;
    const place = await room();
    const asked = [...ids.slice(0, 60), foreign, place, newId(), ...ids.slice(60), ids[0]!];
    const { body } = await bulk(asked, { folderId, pinned: true, archived: true, read: true });
    assert.equal(body.data.length, asked.length - 1);
    assert.deepEqual(
      body.data.filter(({ done }) => !done).map(({ id, error }) => [id, error!.code]),
      [
        [foreign, "thread_not_found"],
        [asked[62], "thread_not_found"],
      ],
    );
    assert.equal((await list(`kind=all&archived=true&folder=${folderId}&limit=500`)).data.length, 121);
    assert.equal((await bulk([ids[0]!, ids[1]!], { archived: false })).status, 200);
    assert.deepEqual(idsOf(await list(`folder=${folderId}`)), [ids[1], ids[0]]);

    for (const [sent, status] of [
      [{ ids: [], change: { pinned: true } }, 400],
      [{ ids: Array.from({ length: 501 }, () => newId()), change: { pinned: true } }, 400],
      [{ ids: [ids[0]], change: {} }, 400],
      [{ ids: [ids[0]], change: { delete: true, pinned: true } }, 400],
      [{ ids: [ids[0]], change: { delete: false } }, 400],
      [{ ids: ["x"], change: { pinned: true } }, 400],
      [{ ids: [ids[0]], change: { folderId: newId() } }, 404],
    ] as const)
      assert.equal((await ask("POST", "/api/threads/bulk", sent)).status, status, JSON.stringify(sent).slice(0, 80));
  });

  test("many are deleted by one request: what can't be stays, and says why", async () => {
    await empty();
    const gone = (await thread()).id;
    const busy = (await thread()).id;
    const [mine, theirs] = [
      await room(),
      (await askOther<{ id: string }>("POST", "/api/rooms", { kind: "desk" })).body.id,
    ];
    await askOther("POST", `/api/rooms/${theirs}/members`, { user: world.server.caller.name });
    await world.server.database.query("update threads set pending = 1 where id = $1", [busy]);
    const { body } = await bulk([gone, busy, mine, theirs, newId()], { delete: true });
    assert.deepEqual(
      body.data.map(({ done, error }) => (done ? "done" : error!.code)),
      ["done", "thread_busy", "done", "forbidden", "thread_not_found"],
    );
    await world.server.database.query("update threads set pending = 0 where id = $1", [busy]);
    assert.deepEqual(idsOf(await list("kind=all")), [theirs, busy]);
    await askOther("DELETE", `/api/rooms/${theirs}`);
  });
});
