import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { linesOf, memberOf, speakerOf } from "../../../../test/rooms.ts";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";
import { roomFileSchema } from "../../../rooms/room-file.ts";
import { createSseParser } from "../../../client/sse.ts";

let server: AgentServing;
let answer: (request: ModelRequest) => ScriptAnswer;

const file = roomFileSchema.parse({
  id: "desk",
  title: "The desk",
  description: "Three who talk.",
  members: ["one", "two"].map((name) => memberOf(name, { model: "script" })),
});

before(async () => {
  server = await serveAgents((request) => answer(request), {}, { rooms: [file] });
});
after(() => server.close());

async function ask<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> {
  const response = await fetch(server.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  return { status: response.status, body: (text && text.startsWith("{") ? JSON.parse(text) : text) as Body };
}

type Event = { readonly type: string; readonly [key: string]: unknown };

/** Reads a room's stream until `enough`; the events with their ids. */
async function read(
  id: string,
  cursor: string,
  enough: (events: readonly Event[]) => boolean,
): Promise<{ events: Event[]; ids: string[] }> {
  const stop = new AbortController();
  const response = await fetch(`${server.url}/api/rooms/${id}/events`, {
    headers: { "last-event-id": cursor },
    signal: stop.signal,
  });
  const parse = createSseParser();
  const decoder = new TextDecoder();
  const events: Event[] = [];
  const ids: string[] = [];
  for await (const bytes of response.body!) {
    for (const { data, id: cursorAfter } of parse(decoder.decode(bytes, { stream: true }))) {
      events.push(JSON.parse(data) as Event);
      if (cursorAfter !== undefined) ids.push(cursorAfter);
    }
    if (enough(events)) break;
  }
  stop.abort();
  return { events, ids };
}

type Room = {
  readonly id: string;
  readonly kind: string | null;
  readonly title: string;
  readonly turns: string;
  readonly you: string;
  readonly chapter: number;
  readonly members: readonly { readonly handle: string; readonly present?: boolean }[];
};
const isOver = (run: string) => (events: readonly Event[]) =>
  events.some((event) => event.type === "run-end" && event["run"] === run);

test("a room over HTTP: made, talked in, followed from any place, changed, saved and deleted", async () => {
  answer = (request) => {
    if (speakerOf(request) === "two") return "I look.";
    return linesOf(request).length > 1 ? "[pass]" : "@two look";
  };
  const kinds = await ask<{ kinds: { id: string; members: { handle: string }[] }[] }>("GET", "/api/rooms");
  assert.deepEqual(
    kinds.body.kinds.map(({ id, members }) => [id, members.map(({ handle }) => handle)]),
    [
      ["analysis", ["data", "code", "reviewer"]],
      ["desk", ["one", "two"]],
    ],
  );
  const made = await ask<Room>("POST", "/api/rooms", { kind: "desk" });
  assert.equal(made.status, 201);
  const { id } = made.body;
  assert.deepEqual([made.body.title, made.body.you, made.body.kind], ["The desk", "user", "desk"]);
  assert.equal((await ask("POST", "/api/rooms", { kind: "none" })).status, 404);
  assert.equal((await ask("POST", "/api/rooms", {})).status, 400);
  assert.equal((await ask<Room>("POST", "/api/rooms", { id, kind: "desk" })).body.id, id);

  const said = await ask<{ run: string; cursor: string }>("POST", `/api/rooms/${id}/messages`, { content: "@one go" });
  assert.equal(said.status, 202);
  const { events, ids } = await read(
    id,
    said.body.cursor,
    (all) => isOver(said.body.run)(all) && all.some(({ type }) => type === "presence"),
  );
  const starts = events.filter(({ type }) => type === "turn-start");
  assert.deepEqual(
    starts.map((event) => event["agent"]),
    ["one", "two", "one"],
  );
  assert.ok(starts.every((event) => event["rootRun"] === said.body.run));
  const present = events.findLast(({ type }) => type === "presence");
  assert.deepEqual(present?.["people"], [{ handle: "user", present: true }]);
  // From any place the rest is the same.
  const logged = events.filter(({ seq }) => seq !== undefined);
  for (const cursor of [ids[2]!, ids[5]!]) {
    const rest = await read(id, cursor, isOver(said.body.run));
    const from = rest.events.find(({ seq }) => seq !== undefined)!["seq"] as number;
    assert.deepEqual(
      rest.events.filter(({ seq }) => seq !== undefined),
      logged.filter(({ seq }) => (seq as number) >= from),
    );
  }
  assert.equal((await fetch(`${server.url}/api/rooms/${id}/events?cursor=99999`)).status, 400);

  const items = await ask<{ data: { kind: string }[] }>("GET", `/api/rooms/${id}/messages?limit=3`);
  assert.equal(items.body.data.length, 3);
  const renamed = await ask<Room>("PATCH", `/api/rooms/${id}`, { title: "Ours", turns: "parallel" });
  assert.deepEqual([renamed.body.title, renamed.body.turns], ["Ours", "parallel"]);
  const put = await fetch(`${server.url}/api/rooms/${id}/files/a.txt`, {
    method: "PUT",
    body: "text",
    headers: { "content-type": "text/plain" },
  });
  assert.equal(put.status, 201);
  const files = await ask<{ data: { path: string }[] }>("GET", `/api/rooms/${id}/files`);
  assert.deepEqual(
    files.body.data.map(({ path }) => path),
    ["a.txt"],
  );
  const saved = await ask<string>("GET", `/api/rooms/${id}/export`);
  assert.match(saved.body, /## user\n\n@one go[^]*## one\n\n@two look[^]*## two\n\nI look\./);
  const cleared = await ask<Room>("POST", `/api/rooms/${id}/clear`);
  assert.ok(cleared.body.chapter > 0);
  assert.deepEqual((await ask<{ interrupted: [] }>("POST", `/api/rooms/${id}/interrupt`)).body, { interrupted: [] });
  assert.equal((await ask("DELETE", `/api/rooms/${id}`)).status, 204);
  assert.equal((await ask("GET", `/api/rooms/${id}`)).status, 404);
});

test("agents of this server are put together to a room, and told where they are", async () => {
  const seen: ModelRequest[] = [];
  answer = (request) => {
    seen.push(request);
    return "[pass]";
  };
  const made = await ask<Room>("POST", "/api/rooms", { members: ["assistant"], title: "Two of us" });
  assert.deepEqual(
    made.body.members.map(({ handle }) => handle),
    ["assistant", "user"],
  );
  const { body } = await ask<{ run: string; cursor: string }>("POST", `/api/rooms/${made.body.id}/messages`, {
    content: "@assistant hi",
  });
  await read(made.body.id, body.cursor, isOver(body.run));
  assert.match(String(seen[0]!.messages[0]!.content), /You are @assistant, in a room with people and other agents/);
  assert.deepEqual(linesOf(seen[0]!), ["user: [@user]: @assistant hi"]);
  assert.equal((await ask("POST", "/api/rooms", { members: ["nobody"] })).status, 400);
  assert.equal((await ask("POST", "/api/rooms", { members: ["desk"] })).status, 400);
});

test("a room is a model of /v1/chat/completions: who speaks stands in the text", async () => {
  answer = (request) => {
    if (speakerOf(request) === "two") return [{ text: "I " }, { text: "look." }];
    return linesOf(request).length > 1 ? "[pass]" : [{ text: "@two " }, { text: "look" }];
  };
  const messages = [{ role: "user", content: "@one go" }];
  const whole = await ask<{ choices: { message: { content: string } }[] }>("POST", "/v1/chat/completions", {
    model: "desk",
    messages,
  });
  const expected = "[@one]: @two look\n\n[@two]: I look.";
  assert.equal(whole.body.choices[0]?.message.content, expected);
  const streamed = await ask<string>("POST", "/v1/chat/completions", { model: "desk", messages, stream: true });
  const pieces = streamed.body
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] })
    .flatMap(({ choices }) => choices[0]?.delta.content ?? []);
  assert.equal(pieces.join(""), expected);
  assert.ok(pieces.length >= 4);
  const models = await ask<{ data: { id: string }[] }>("GET", "/v1/models");
  assert.ok(models.body.data.some(({ id }) => id === "desk"));
});
