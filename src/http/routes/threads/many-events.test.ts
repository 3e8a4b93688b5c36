import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { serve } from "../../../../test/serve.ts";
import { createChangeFeed } from "../../../store/driver/change-feed.ts";
import type { Services } from "../../server/services.ts";
import { type Client, createClient } from "../../../client/client.ts";
import { createSseParser, type SseEvent } from "../../../client/sse.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { createTaskClient } from "../../../client/tasks.ts";

let server: AgentServing;
let client: Client;
let gate = Promise.withResolvers<void>();
before(async () => {
  server = await serveAgents(({ messages }) => {
    const text = String(messages.at(-1)!.content);
    return text === "slow" ? [{ text: "one" }, { gate: () => gate.promise }, { text: " two" }] : `echo ${text}`;
  });
  client = createClient({ url: server.url });
});
after(() => server.close());

type ManyEvent = {
  readonly type: string;
  readonly data: unknown;
  readonly number: number;
  readonly cursor: string | undefined;
};

/** Reads until `enough`, then leaves. */
async function followMany(
  subjects: unknown,
  enough: (told: readonly ManyEvent[]) => boolean,
  url = server.url,
): Promise<ManyEvent[]> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/api/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ subjects }),
    signal: leaving.signal,
  });
  assert.equal(response.status, 200, response.ok ? "" : await response.text());
  const parse = createSseParser();
  const told: ManyEvent[] = [];
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    told.push(...parse(text).map(readEvent));
    if (enough(told)) break;
  }
  leaving.abort();
  return told;
}

function readEvent({ type, data, id = "" }: SseEvent): ManyEvent {
  const [number, cursor] = id.split(" ", 2);
  return { type, data: JSON.parse(data), number: Number(number), cursor };
}

const textOf = (told: readonly ManyEvent[], number: number) =>
  told
    .map((event) =>
      event.number === number && event.type === "text-delta" ? (event.data as { text: string }).text : "",
    )
    .join("");
const ended = (number: number) => (told: readonly ManyEvent[]) =>
  told.some((event) => event.number === number && event.type === "run-end");

async function say(content: string, threadId?: string) {
  const id = threadId ?? (await client.createThread({ title: content })).id;
  return client.startRun(id, { agent: "assistant", content });
}

test("threads, runs and tasks come over one connection, each from its own cursor", async () => {
  const [one, other] = [await say("first"), await say("second")];
  for (const { id } of [one, other]) for await (const _ of client.follow(id));
  const subjects = [{ of: "thread", id: one.threadId }, { of: "run", id: other.id }, { of: "tasks" }];
  const told = await followMany(
    subjects,
    (all) => ended(0)(all) && all.some(({ type }) => type === "over") && all.some(({ number }) => number === 2),
  );
  assert.equal(told[0]!.type, "hello");
  assert.deepEqual([textOf(told, 0), textOf(told, 1)], ["echo first", "echo second"]);
  assert.deepEqual(
    told.filter(({ number }) => number === 2).map(({ data }) => data),
    [{ type: "changed" }],
  );
  const end = told.findLast(({ number, type }) => number === 1 && type === "run-end")!;
  const again = await followMany([{ of: "run", id: other.id, cursor: end.cursor }], (all) => all.length === 2);
  assert.deepEqual(
    again.map(({ type }) => type),
    ["hello", "over"],
  );
});

test("what can't be followed is refused in its place, and the others go on", async () => {
  const { threadId } = await say("here");
  const told = await followMany(
    [
      { of: "thread", id: newId() },
      { of: "room", id: threadId },
      { of: "thread", id: threadId, cursor: "99999" },
      { of: "thread", id: threadId },
    ],
    ended(3),
  );
  const refused = told.filter(({ type }) => type === "refused");
  assert.deepEqual(
    refused.map(({ number, data }) => [number, (data as { error: { status: number } }).error.status]),
    [
      [0, 404],
      [1, 404],
      [2, 400],
    ],
  );
  assert.equal(textOf(told, 3), "echo here");
});

test("a cursor goes on in the middle of an answer, and two places of one thread do not mix", async () => {
  gate = Promise.withResolvers();
  const { threadId } = await say("slow");
  const begun = await followMany([{ of: "thread", id: threadId }], (all) => textOf(all, 0) === "one");
  const cursor = begun.at(-1)!.cursor;
  const rest = followMany(
    [
      { of: "thread", id: threadId, cursor },
      { of: "thread", id: threadId },
    ],
    (all) => ended(0)(all) && ended(1)(all),
  );
  gate.resolve();
  const told = await rest;
  assert.deepEqual([textOf(told, 0), textOf(told, 1)], [" two", "one two"]);
  const seqs = told.flatMap(({ number, data }) =>
    number === 0 && "seq" in (data as RunEvent) ? [(data as { seq: number }).seq] : [],
  );
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].sort((a, b) => a - b),
  );
});

test("one request names 64 subjects at most", async () => {
  const { threadId } = await say("many");
  const subjects = Array.from({ length: 65 }, () => ({ of: "thread", id: threadId }));
  const ask = (some: unknown) =>
    fetch(`${server.url}/api/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subjects: some }),
    });
  assert.equal((await ask(subjects)).status, 400);
  assert.equal((await ask([])).status, 400);
  const told = await followMany(subjects.slice(1), (all) => ended(63)(all));
  assert.equal(textOf(told, 63), "echo many");
});

test("a task that is added is told to whoever follows tasks beside others", async () => {
  const tasks = createTaskClient({ url: server.url });
  let isAdded = false;
  const told = await followMany([{ of: "tasks" }], (all) => {
    const changes = all.filter(({ type }) => type === "message").length;
    if (changes === 1 && !isAdded) {
      isAdded = true;
      void tasks.add({ title: "milk" });
    }
    return changes > 1;
  });
  assert.ok(told.length > 2);
});

test("that runs have begun or ended is told to whoever they are of, and to nobody else", async () => {
  let isBegun = false;
  const isRunTold = (all: readonly ManyEvent[], number: number) =>
    all.filter((event) => event.number === number && event.type === "message").length > 1;
  const told = await followMany([{ of: "tasks" }, { of: "runs" }, { of: "all-runs" }, { of: "lists" }], (all) => {
    if (!isBegun && all.some(({ number }) => number === 2)) {
      isBegun = true;
      void say("something");
    }
    return isRunTold(all, 1) && isRunTold(all, 2);
  });
  assert.equal(told.filter(({ number, type }) => number === 0 && type === "message").length, 1, "no task has changed");
  const { runs } = server;
  let others = 0;
  const other = runs.followChanges(newId(), () => others++);
  const { id, threadId } = await say("of the owner");
  for await (const _ of client.follow(id));
  await followMany([{ of: "runs" }, { of: "thread", id: threadId }], ended(1));
  assert.equal(others, 1, "at the beginning");
  other.close();
});

test("that a collection has changed is told to whoever follows knowledge, and not as a task", async () => {
  const feed = createChangeFeed(server.database, "colloquy_knowledge");
  const knowledge = { followChanges: (tell: () => void) => feed.follow("all", () => tell()) };
  const serving = await serve({ ...server.services, knowledge: knowledge as Services["knowledge"] });
  try {
    let isMade = false;
    const told = await followMany(
      [{ of: "knowledge" }, { of: "tasks" }],
      (all) => {
        const of = (number: number) =>
          all.filter((event) => event.number === number && event.type === "message").length;
        if (!isMade && of(0) === 1 && of(1) === 1) {
          isMade = true;
          void server.database.query(
            "insert into rag_collections (id, user_id, name, settings) select $1, id, 'Birds', '{}' from users limit 1",
            [newId()],
          );
        }
        return isMade && of(0) > 1;
      },
      serving.url,
    );
    assert.equal(
      told.filter(({ number, type }) => number === 1 && type === "message").length,
      1,
      "no task has changed",
    );
  } finally {
    await serving.close();
  }
});
