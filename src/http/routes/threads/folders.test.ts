import assert from "node:assert/strict";
import { test } from "node:test";
import { eachDatabase } from "../../../../test/databases.ts";
import { listWorld } from "../../../../test/list-world.ts";
import { createSseParser } from "../../../client/sse.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { FolderView } from "../../../protocol/threads/folders.ts";
import type { ListedThread } from "../../../protocol/threads/threads.ts";

type Failure = { readonly error: { readonly code: string; readonly message: string } };

eachDatabase((databases) => {
  const world = listWorld(databases);
  const { ask, askOther, folder, thread, list, idsOf, change, bulk, empty, room, letIn } = world;
  const names = async (asked = ask) =>
    (await asked<{ data: FolderView[] }>("GET", "/api/folders")).body.data.map(({ name }) => name);

  test("folders are made, renamed, ordered and deleted; what is in them stays", async () => {
    await empty();
    const [a, b, c] = [await folder("a"), await folder("b"), await folder("c", { settings: { agent: "assistant" } })];
    assert.deepEqual([a.position, b.position, c.position], [0, 1, 2]);
    const moved = await ask<{ data: FolderView[] }>("PATCH", `/api/folders/${c.id}`, { position: 0, name: "C" });
    assert.deepEqual(
      moved.body.data.map(({ name, position }) => [name, position]),
      [
        ["C", 0],
        ["a", 1],
        ["b", 2],
      ],
    );
    await ask("PATCH", `/api/folders/${a.id}`, { position: 1000 });
    assert.deepEqual(await names(), ["C", "b", "a"]);

    const inside = await thread({ folderId: b.id });
    assert.equal(inside.folderId, b.id);
    assert.equal((await ask("DELETE", `/api/folders/${b.id}`)).status, 204);
    assert.deepEqual(await names(), ["C", "a"]);
    assert.equal((await ask<ListedThread>("GET", `/api/threads/${inside.id}`)).body.folderId, null);
    assert.equal((await folder("d")).position, 2);
    // Sent again, it is the same one.
    const id = newId();
    assert.deepEqual(await folder("e", { id }), await folder("other", { id }));
  });

  test("what can't be a folder is refused in words", async () => {
    for (const [body, path] of [
      [{ name: "x".repeat(10_000) }, "name"],
      [{ name: "  " }, "name"],
      [{ name: "a", settings: { agents: [] } }, "settings"],
      [{ name: "a", settings: { collections: Array.from({ length: 21 }, () => "c") } }, "settings"],
      [{}, "name"],
    ] as const) {
      const { status, body: answer } = await ask<Failure>("POST", "/api/folders", body);
      assert.equal(status, 400);
      assert.match(answer.error.message, new RegExp(path));
    }
    const { id } = await folder("odd \u0000 \ud800 name 🗂");
    assert.equal((await ask("PATCH", `/api/folders/${id}`, {})).status, 400);
    assert.equal((await ask("PATCH", `/api/folders/${id}`, { position: -1 })).status, 400);
    assert.equal((await ask("PATCH", `/api/folders/${newId()}`, { name: "x" })).status, 404);
    assert.equal((await ask("DELETE", `/api/folders/${newId()}`)).status, 404);
  });

  test("another person's folder is none", async () => {
    const mine = await folder("mine");
    const theirs = (await askOther<FolderView>("POST", "/api/folders", { name: "theirs" })).body;
    assert.ok(!(await names()).includes("theirs"));
    assert.ok(!(await names(askOther)).includes("mine"));
    const { id } = await thread();
    for (const refused of [
      await change(id, { folderId: theirs.id }),
      await bulk([id], { folderId: theirs.id }),
      await ask<Failure>("POST", "/api/threads", { folderId: theirs.id }),
    ]) {
      assert.equal(refused.status, 404);
      assert.equal(refused.body.error.code, "folder_not_found");
    }
    assert.equal((await askOther("PATCH", `/api/folders/${mine.id}`, { name: "x" })).status, 404);
    assert.equal((await askOther("DELETE", `/api/folders/${mine.id}`)).status, 404);
    // Its id is taken, and nothing of it is told.
    assert.equal((await askOther("POST", "/api/folders", { name: "x", id: mine.id })).status, 400);
    assert.deepEqual(idsOf(await list(`folder=${theirs.id}&kind=all`)), []);
  });

  test("two tabs order folders at once, and both orders hold in turn", async () => {
    await empty();
    const made = [];
    for (const name of ["a", "b", "c", "d", "e"]) made.push((await folder(name)).id);
    const moves = made.flatMap((id, at) => [4 - at, at].map((position) => ({ id, position })));
    const answers = await Promise.all(
      moves.map(({ id, position }) => ask<{ data: FolderView[] }>("PATCH", `/api/folders/${id}`, { position })),
    );
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      assert.deepEqual(
        body.data.map(({ position }) => position),
        [0, 1, 2, 3, 4],
      );
    }
    assert.deepEqual((await names()).toSorted(), ["a", "b", "c", "d", "e"]);
  });

  test("a folder is deleted while conversations are moved into it: nothing is lost, and none is in a folder that is gone", async () => {
    await empty();
    const threads = await Promise.all(Array.from({ length: 12 }, () => thread()));
    for (let round = 0; round < 5; round++) {
      const { id } = await folder(`round ${round}`);
      const moved = threads.map(({ id: threadId }) => change(threadId, { folderId: id }));
      const [, ...answers] = await Promise.all([ask("DELETE", `/api/folders/${id}`), ...moved]);
      for (const { status } of answers) assert.ok(status === 200 || status === 404, String(status));
      const { data } = await list("kind=all&limit=100");
      assert.deepEqual(
        data.map(({ folderId }) => folderId),
        threads.map(() => null),
      );
    }
  });

  test("a conversation begins with its folder's agent, unless another is named", async () => {
    const { id: folderId } = await folder("work", { settings: { agent: "assistant", collections: ["books"] } });
    assert.equal((await thread({ folderId })).agent, "assistant");
    assert.equal((await thread({ folderId, agent: "else" })).agent, "else");
  });

  test("one list of conversations and rooms: pinned, in folders, archived, each as asked", async () => {
    await empty();
    const { id: folderId } = await folder("work");
    const talks = [];
    for (const title of ["a", "b", "c"]) talks.push((await thread({ title })).id);
    const place = await room();
    const [a, b, c] = talks as [string, string, string];
    assert.deepEqual(idsOf(await list("")), [c, b, a]);
    assert.deepEqual(idsOf(await list("kind=all")), [place, c, b, a]);
    assert.deepEqual(idsOf(await list("kind=room&sort=used")), [place]);
    assert.deepEqual(
      (await list("kind=all")).data.map(({ kind }) => kind),
      ["room", "conversation", "conversation", "conversation"],
    );

    for (const id of [a, place]) assert.equal((await change(id, { pinned: true, folderId })).status, 200);
    assert.deepEqual(idsOf(await list("kind=all&sort=pinned")), [place, a]);
    assert.deepEqual(idsOf(await list(`kind=all&sort=pinned&folder=${folderId}`)), [place, a]);
    assert.deepEqual(idsOf(await list(`kind=all&sort=used&folder=${folderId}`)), [place, a]);
    assert.deepEqual(idsOf(await list(`kind=all&folder=${folderId}&limit=1`)), [place]);
    assert.deepEqual(idsOf(await list("kind=all&folder=none&pinned=false&sort=used")), [c, b]);
    const [listed] = (await list("kind=all&sort=pinned")).data;
    assert.equal(listed!.folderId, folderId);
    assert.match(listed!.pinnedAt!, /^20/);
    // Pinned again, it stays where it was.
    await change(a, { pinned: true });
    assert.deepEqual(idsOf(await list("kind=all&sort=pinned")), [place, a]);

    for (const id of [b, place]) await change(id, { archived: true });
    assert.deepEqual(idsOf(await list("kind=all")), [c, a]);
    assert.deepEqual(idsOf(await list("kind=all&archived=true")), [place, b]);
    assert.deepEqual(idsOf(await list(`kind=all&archived=true&sort=used&folder=${folderId}`)), [place]);
    assert.ok((await list("kind=all&archived=true")).data.every(({ archivedAt }) => archivedAt !== null));
    for (const id of [b, place]) await change(id, { archived: false, pinned: false, folderId: null });
    assert.deepEqual(idsOf(await list("kind=all&folder=none&pinned=false")), [place, c, b]);
  });

  test("pages hold their place while others are used and deleted", async () => {
    await empty();
    const made = [];
    for (let at = 0; at < 9; at++) made.push(at % 3 === 0 ? await room() : (await thread({ title: `${at}` })).id);
    const wanted = made.toReversed();
    for (const sort of ["made", "used"] as const) {
      const first = await list(`kind=all&limit=4&sort=${sort}`);
      assert.deepEqual(idsOf(first), wanted.slice(0, 4));
      const second = await list(`kind=all&limit=4&sort=${sort}&before=${first.next}`);
      assert.deepEqual(idsOf(second), wanted.slice(4, 8));
      // The last one of the page before is used, and then gone.
      if (sort === "used") {
        await world.server.database.query("update threads set used_at = now() where id = $1", [wanted[7]]);
        assert.deepEqual(idsOf(await list(`kind=all&limit=4&sort=used&before=${second.next}`)), [wanted[8]]);
        await world.server.database.query("delete from threads where id = $1", [wanted[7]]);
      }
      const third = await list(`kind=all&limit=4&sort=${sort}&before=${second.next}`);
      assert.deepEqual(idsOf(third), [wanted[8]]);
      assert.equal(third.next, undefined);
      // An id does, too.
      const rest = idsOf(await list(`kind=all&limit=2&sort=${sort}&before=${wanted[3]}`));
      assert.deepEqual(rest, wanted.slice(4, 6));
    }
    for (const before of ["x", "1.x", `x.${made[0]}`, "99999999999999999999.1"])
      assert.equal((await ask("GET", `/api/threads?sort=used&before=${before}`)).status, 400, before);
  });

  test("a conversation is unread until it is marked, and what was there before counts as read", async () => {
    await empty();
    const { id } = await thread();
    const isUnread = async () => (await list("kind=all")).data.find((one) => one.id === id)!.unread;
    assert.equal(await isUnread(), false);
    const say = async () => {
      const { runId } = await world.server.runs.start(world.server.caller, {
        agent: "assistant",
        threadId: id,
        message: { content: "Hello" },
      });
      await (await fetch(`${world.server.url}/api/runs/${runId}/events`)).text();
    };
    await say();
    assert.equal(await isUnread(), true);
    assert.equal((await change(id, { read: 1 })).body.unread, true);
    assert.equal((await change(id, { read: true })).body.unread, false);
    // Another tab that has seen less marks nothing as unread.
    assert.equal((await change(id, { read: 1 })).body.unread, false);
    assert.equal((await change(id, { read: 1_000_000 })).body.unread, false);
    await say();
    assert.equal(await isUnread(), true);
    await change(id, { read: true });
    assert.equal((await change(id, { read: false })).body.unread, true);
    await world.server.database.query("delete from thread_places");
    await world.server.database.query("update users set read_since = now()");
    assert.equal(await isUnread(), false);
  });

  test("a room's pin, folder and archive are each person's own, and end with who leaves", async () => {
    await empty();
    const id = await room();
    assert.equal((await change(id, { pinned: true }, askOther)).status, 404);
    await letIn(id);
    const theirs = (await askOther<FolderView>("POST", "/api/folders", { name: "rooms" })).body;
    const placed = await change(id, { pinned: true, folderId: theirs.id, read: true }, askOther);
    assert.equal(placed.status, 200);
    assert.equal(placed.body.folderId, theirs.id);
    const [mine] = (await list("kind=all")).data;
    assert.deepEqual([mine!.folderId, mine!.pinnedAt], [null, null]);
    await change(id, { archived: true }, askOther);
    assert.deepEqual(idsOf(await list("kind=all")), [id]);
    assert.deepEqual(idsOf(await list("kind=all", askOther)), []);
    assert.deepEqual(idsOf(await list("kind=all&archived=true", askOther)), [id]);
    // What is the room's is its owner's to change.
    assert.equal((await change(id, { title: "mine now" }, askOther)).status, 404);
    assert.equal((await ask("GET", `/api/threads/${id}`)).status, 200);
    assert.equal((await askOther("GET", `/api/threads/${id}`)).status, 404);

    await ask("DELETE", `/api/rooms/${id}/members/ada`);
    for (const query of [
      "kind=all",
      "kind=all&archived=true",
      "kind=all&sort=pinned",
      `kind=all&folder=${theirs.id}&archived=true`,
    ])
      assert.deepEqual(idsOf(await list(query, askOther)), [], query);
    assert.equal((await change(id, { pinned: false }, askOther)).status, 404);
    assert.deepEqual(
      (await bulk([id], { pinned: true }, askOther)).body.data.map(({ done }) => done),
      [false],
    );
  });

  test("other tabs of the person hear of it, and nobody else", async () => {
    await empty();
    const { id: threadId } = await thread();
    const stop = new AbortController();
    const heard = async (url: string) => {
      const response = await fetch(`${url}/api/me/events`, { signal: stop.signal });
      const told: string[] = [];
      const wanted: { count: number; done: () => void }[] = [];
      void (async () => {
        const parse = createSseParser();
        const decoder = new TextDecoder();
        for await (const bytes of response.body!)
          for (const { data } of parse(decoder.decode(bytes, { stream: true }))) {
            told.push((JSON.parse(data) as { of: string }).of);
            for (const { count, done } of wanted) if (told.length >= count) done();
          }
      })().catch(() => {});
      const until = (count: number) =>
        new Promise<void>((done) => (told.length >= count ? done() : wanted.push({ count, done })));
      await until(3);
      return { told, until };
    };
    const [mine, theirs] = [await heard(world.server.url), await heard(world.others.url)];
    assert.deepEqual(mine.told, ["threads", "folders", "preferences"]);
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["folders", () => folder("new")],
      ["threads", () => change(threadId, { pinned: true })],
      ["threads", () => change(threadId, { title: "Another" })],
      [
        "threads",
        () =>
          world.server.runs.start(world.server.caller, { agent: "assistant", threadId, message: { content: "Hi" } }),
      ],
      ["preferences", () => ask("PATCH", "/api/me/preferences", { favourites: ["@assistant", "script"] })],
      ["threads", () => ask("DELETE", `/api/threads/${threadId}`)],
    ];
    for (const [kind, act] of steps) {
      const before = mine.told.length;
      await act();
      await mine.until(before + 1);
      assert.equal(mine.told[before], kind);
    }
    // Nothing has changed.
    await ask("PATCH", "/api/me/preferences", { favourites: ["@assistant", "script"] });
    await askOther("POST", "/api/folders", { name: "theirs" });
    await theirs.until(4);
    assert.deepEqual(theirs.told.slice(3), ["folders"]);
    stop.abort();
  });

  test("preferences are kept, cleared and checked", async () => {
    const patch = (body: object) => ask<object>("PATCH", "/api/me/preferences", body);
    assert.deepEqual((await patch({ agent: "assistant", model: "script", favourites: ["script"] })).body, {
      agent: "assistant",
      model: "script",
      favourites: ["script"],
    });
    assert.deepEqual((await patch({ model: null })).body, { agent: "assistant", favourites: ["script"] });
    assert.deepEqual((await askOther("GET", "/api/me/preferences")).body, {});
    for (const body of [{}, { other: 1 }, { agent: "" }, { favourites: Array.from({ length: 101 }, () => "x") }])
      assert.equal((await patch(body)).status, 400);
    assert.deepEqual((await ask("GET", "/api/me/preferences")).body, { agent: "assistant", favourites: ["script"] });
    const agents = await ask<{ data: { id: string; isDefault: boolean }[] }>("GET", "/api/agents");
    assert.deepEqual(
      agents.body.data.filter(({ isDefault }) => isDefault).map(({ id }) => id),
      ["assistant"],
    );
    await patch({ agent: null, favourites: null });
  });

  test("saved filters are each person's own, and bounded", async () => {
    const patch = (filters: unknown) => ask<object>("PATCH", "/api/me/preferences", { filters });
    const filter = { list: "runs", name: "What went wrong", query: "status=failed" };
    const saved = Array.from({ length: 50 }, (_, n) => ({ ...filter, name: `filter ${n}` }));
    assert.deepEqual((await patch(saved)).body, { filters: saved });
    assert.deepEqual((await askOther("GET", "/api/me/preferences")).body, {});
    const wrong = [
      [...saved, filter],
      [{ ...filter, name: "x".repeat(61) }],
      [{ ...filter, name: "  " }],
      [{ ...filter, query: "x".repeat(501) }],
      [{ ...filter, list: "documents" }],
    ];
    for (const filters of wrong) assert.equal((await patch(filters)).status, 400);
    assert.deepEqual((await patch(null)).body, {});
  });
});
