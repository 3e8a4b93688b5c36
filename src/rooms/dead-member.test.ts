import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { startModelServer } from "../../test/model-servers/model-server.ts";
import { openRoom, type RoomPlace } from "../../test/room-place.ts";
import { memberOf, roomOf, sayIn, scriptOf } from "../../test/rooms.ts";
import { testServers } from "../../test/mcp-servers.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import { roomStrategies } from "./strategies.ts";

const always = { activation: "always" } as const;
const members = [memberOf("ben", { ...always, model: "local" }), memberOf("ann", always)];

/** Where nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function modelAt(url: string, apiKey = "none") {
  return { id: "local", provider: "openai", baseUrl: `${url}/v1`, model: "qwen3", apiKey, retries: 0 } as const;
}

function failuresIn({ seen }: RoomPlace): string[] {
  return seen.flatMap((event) => (event.type === "run-end" && event.error ? [event.error.message] : []));
}

function turnsIn({ seen }: RoomPlace): string[] {
  return seen.flatMap((event) => (event.type === "turn-start" ? [event.agent] : []));
}

anyRunDatabase((suite) => {
  test("a model that is away: told once, by name and address; the others go on, and who names it tries again", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const place = await openRoom(suite, { room: { members }, models: [modelAt(url)], script: () => "Here." });
    const { ada, say, over } = place;
    await over(await say(ada, "hello"));
    const told =
      `@ben can't answer: its model local is not reachable. Model "qwen3" at ${url}/v1/chat/completions: ` +
      `nothing listens at ${url.slice(7)}. Start the model server or change baseUrl.`;
    assert.deepEqual(failuresIn(place), [told]);
    await over(await say(ada, "and now?"));
    await over(await say(ada, "and then?"));
    assert.deepEqual(turnsIn(place), ["ben", "ann", "ann", "ann"]);
    assert.deepEqual(failuresIn(place), [told]);
    await over(await say(ada, "@ben?"));
    assert.deepEqual(failuresIn(place), [told, told]);
  });

  test("a model that is not there, one that is unknown to its server, and a key that is refused", async (context) => {
    const server = await startModelServer({ key: "right" });
    context.after(() => server.close());
    server.always({ status: 404, error: "model 'qwen3' not found" });
    const said = async (model: ReturnType<typeof modelAt> | undefined) => {
      const models = model ? [model] : [];
      const place = await openRoom(suite, { room: { members }, models, script: () => "Here." });
      await place.over(await place.say(place.ada, "hello"));
      await place.over(await place.say(place.ada, "and now?"));
      assert.deepEqual(turnsIn(place), ["ben", "ann", "ann"]);
      await place.service.stop(0);
      return failuresIn(place);
    };
    const [gone, ...more] = await said(undefined);
    assert.match(gone!, /^@ben can't answer: its model local is not there\. Model "local" not found\. Known: /);
    assert.deepEqual(more, []);
    const [unknown] = await said(modelAt(server.url, "right"));
    assert.match(unknown!, /^@ben can't answer: its model local is not there\. Model "qwen3" at .*not found \(404\)/);
    const [refused] = await said(modelAt(server.url, "wrong"));
    assert.match(refused!, /^@ben can't answer: its model local refuses its key\. Model "qwen3" at .*\(401\)/);
    assert.ok(!refused!.includes("wrong"));
  });

  test("a dead member that is the only one to listen is tried for each message, so that it is back at once", async (context) => {
    const server = await startModelServer();
    context.after(() => server.close());
    server.answer({ status: 401, error: "no" }, "Back again.", "Still here.");
    const room = { members: [memberOf("ben", { ...always, model: "local" }), memberOf("ann")] };
    const place = await openRoom(suite, { room, models: [modelAt(server.url)], script: () => "Here." });
    const { ada, say, over, lines } = place;
    await over(await say(ada, "hello"));
    await over(await say(ada, "and now?"));
    await over(await say(ada, "once more"));
    assert.deepEqual(lines().slice(1), [
      "@user: and now?",
      "@ben: Back again.",
      "@user: once more",
      "@ben: Still here.",
    ]);
  });

  test("what is over by itself leaves nobody out: a busy provider is asked for the next message too", async (context) => {
    const server = await startModelServer();
    context.after(() => server.close());
    server.answer({ fault: "error", error: "it broke" }, "Here I am.");
    const place = await openRoom(suite, { room: { members }, models: [modelAt(server.url)], script: () => "[pass]" });
    const { ada, say, over } = place;
    await over(await say(ada, "hello"));
    assert.deepEqual(failuresIn(place), []);
    assert.ok(place.lines().includes("@ben: Here I am."));
  });

  test("who waits for a busy provider keeps nobody from answering the same message", async (context) => {
    const server = await startModelServer();
    context.after(() => server.close());
    server.always({ status: 503, error: "overloaded" });
    const place = await openRoom(suite, { room: { members }, models: [modelAt(server.url)], script: () => "Here." });
    await place.say(place.ada, "hello");
    await until(() => place.lines().includes("@ann: Here."), "the other");
    server.always("I am back.");
    await until(() => place.lines().includes("@ben: I am back."), "its turn");
  });

  test("a provider that stays busy is waited for: the others go on, are heard meanwhile, and its turn ends by itself", async (context) => {
    const server = await startModelServer();
    context.after(() => server.close());
    server.always({ status: 503, error: "overloaded" });
    const ann = memberOf("ann", always);
    const parts = { members: [memberOf("ben", { model: "local" }), ann] };
    const place = await openRoom(suite, { room: parts, models: [modelAt(server.url)], script: () => "Ann is here." });
    const { ada, say, seen, rooms, id } = place;
    await say(ada, "@ben, are you there?");
    await until(() => seen.some((event) => event.type === "run-wait"), "the wait of the turn");
    await say(ada, "@ann, then you?");
    await until(() => place.lines().includes("@ann: Ann is here."), "the answer of the other");
    const [question] = await rooms.questions(ada, id);
    assert.equal(question?.body.outage?.code, "model_overloaded");
    server.always("Here I am.");
    await until(() => place.lines().includes("@ben: Here I am."), "its turn");
    assert.deepEqual(failuresIn(place), []);
  });

  test("a member whose MCP server is gone is told once, by the server's name; all speak, and the next turns wait no more", async () => {
    const mcp = testServers({ files: { url: "http://127.0.0.1:1", waitMs: 1200 } });
    try {
      const service = await suite.start({
        strategies: roomStrategies,
        sources: mcp.sources,
        agents: [
          roomOf({
            members: [
              memberOf("a", { activation: "always", tools: ["files_*"] }),
              memberOf("b", { activation: "always" }),
            ],
          }),
        ],
        script: scriptOf({ a: ["Without my files.", "Still without."], b: ["I am here.", "I too."] }),
      });
      const { lines, threadId } = await sayIn(service, "Who is here?");
      for (const line of ["@a: Without my files.", "@b: I am here."]) assert.ok(lines.includes(line), lines.join("\n"));
      await sayIn(service, "And now?", { threadId });
      const items = await service.threads.listItems(service.caller, threadId, {});
      const told = items.flatMap((item) => (item.kind === "notice" ? [item.body] : []));
      assert.deepEqual(
        told.map(({ code }) => code),
        ["tools_awaited", "tools_missing"],
      );
      assert.match(told[1]!.text, /^The MCP server files is not there: .*127\.0\.0\.1:1 .*continues without its tools/);
    } finally {
      await mcp.close();
    }
  });
});
