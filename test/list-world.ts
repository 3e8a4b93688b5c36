import { after, before } from "node:test";
import { serve, type Serving } from "./serve.ts";
import { memberOf } from "./rooms.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";
import type { TestDatabases } from "./databases.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import type { FolderView } from "../src/protocol/threads/folders.ts";
import type { BulkAnswer, ListedThread, ThreadListPage } from "../src/protocol/threads/threads.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import { createUser } from "../src/store/people/users.ts";

const desk = roomFileSchema.parse({
  id: "desk",
  title: "The desk",
  description: "Two who talk.",
  members: ["one", "two"].map((name) => memberOf(name, { model: "script" })),
});

type Failure = { readonly error: { readonly code: string; readonly message: string } };
type Answer<Body> = { readonly status: number; readonly body: Body };

/** A server with two people, the owner and ada, and what they do with their lists; for a suite. */
export function listWorld(databases: TestDatabases) {
  let server: AgentServing;
  let others: Serving;
  let other: Caller;
  before(async () => {
    const database = await databases.open();
    server = await serveAgents(() => "Well.", {}, { rooms: [desk], database });
    const { id, name, role, permissions } = await createUser(database.query, { name: "ada", role: "user" });
    other = { userId: id, name, role, permissions, via: "local" };
    others = await serve({ ...server.services, access: { mode: "local", owner: other, owning: "open" } });
  });
  after(async () => {
    await others.close();
    await server.close();
  });

  const asking =
    (url: () => string) =>
    async <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> => {
      const response = await fetch(url() + path, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      });
      const text = await response.text();
      return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as Body };
    };
  const ask = asking(() => server.url);
  const askOther = asking(() => others.url);

  const folder = async (name: string, more: object = {}) =>
    (await ask<FolderView>("POST", "/api/folders", { name, ...more })).body;
  const thread = async (body: object = {}) => (await ask<ListedThread>("POST", "/api/threads", body)).body;
  const list = async (query: string, asked = ask) => (await asked<ThreadListPage>("GET", `/api/threads?${query}`)).body;
  const idsOf = ({ data }: ThreadListPage) => data.map(({ id }) => id);
  const change = (id: string, body: object, asked = ask) =>
    asked<ListedThread & Failure>("PATCH", `/api/threads/${id}`, body);
  const bulk = (ids: readonly string[], body: object, asked = ask) =>
    asked<BulkAnswer & Failure>("POST", "/api/threads/bulk", { ids, change: body });
  const empty = async () => {
    for (const { id } of (await list("kind=all&limit=500")).data)
      await server.database.query("delete from threads where id = $1", [id]);
    await server.database.query("delete from folders");
  };
  const room = async () => (await ask<{ id: string }>("POST", "/api/rooms", { kind: "desk" })).body.id;
  const letIn = (id: string) => ask("POST", `/api/rooms/${id}/members`, { user: "ada" });

  return {
    get server() {
      return server;
    },
    get others() {
      return others;
    },
    ...{ ask, askOther, folder, thread, list, idsOf, change, bulk, empty, room, letIn },
  };
}
