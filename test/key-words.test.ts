import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { accountServices, asker, codeOf, type LoginBody, machineToken, password } from "./accounts.ts";
import { serve, type Serving } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const sendLetter = defineTool({
  name: "send_letter",
  description: "Sends a letter.",
  input: z.object({}),
  effect: "write",
  permissions: ["post.letters"],
  execute: () => "sent",
});

let backend: AgentServing;
let server: Serving;
let ask: ReturnType<typeof asker>;
let userId: string;
let login: string;

before(async () => {
  backend = await serveAgents(() => "said", {}, { tools: [sendLetter] });
  server = await serve({ ...backend.services, ...(await accountServices(backend.database)) });
  ask = asker(server.url);
  const { body } = await ask<LoginBody>("POST", "/api/auth/signup", { body: { username: "ann", password } });
  [userId, login] = [body.user.id, body.access_token];
});
after(async () => {
  await server.close();
  await backend.close();
});

type Asked = { readonly status: number; readonly body: Record<string, unknown> };
const messageOf = ({ body }: Asked) => (body as { error: { message: string } }).error.message;
const made = () => ask<{ data: { label: string }[] }>("GET", "/api/auth/keys", { token: login });

test("a word that names nothing is refused wherever a key is made or changed, with what it may have meant", async () => {
  const { body: own } = await ask<{ key: { id: string } }>("POST", "/api/auth/keys", {
    token: login,
    body: { label: "own", scopes: ["agents:*"] },
  });
  const key = (scopes: readonly string[]) => ({ label: "mistyped", scopes });
  const ways: readonly ((scopes: readonly string[]) => Promise<Asked>)[] = [
    (scopes) => ask("POST", "/api/auth/keys", { token: login, body: key(scopes) }),
    (scopes) => ask("POST", `/api/admin/users/${userId}/keys`, { token: machineToken, body: key(scopes) }),
    (scopes) => ask("PATCH", `/api/auth/keys/${own.key.id}`, { token: login, body: { scopes } }),
    (scopes) => ask("POST", "/api/admin/users", { token: machineToken, body: { name: "mistyped", scopes } }),
  ];
  for (const [at, way] of ways.entries())
    for (const [word, meant] of [
      ["agent_assistant", /"agent_assistant" .*Did you mean agents:assistant\?/],
      ["thread:read", /Did you mean .*threads:read/],
      ["threads:reed", /Did you mean threads:read/],
      ["tool_send_letter", /Did you mean .*tools:send_letter/],
      ["post.leters", /Did you mean post\.letters\?/],
      ["xylophone", /"xylophone" [^?]*$/],
    ] as const) {
      const refused = await way(["agents:assistant", word]);
      assert.deepEqual([refused.status, codeOf(refused)], [400, "unknown_scope"], `${at} ${word}`);
      assert.match(messageOf(refused), meant);
    }
  assert.deepEqual(
    (await made()).body.data.map(({ label }) => label),
    ["own"],
  );
});

test("scopes, globs of them, things by their names, and what a tool demands are taken", async () => {
  const scopes = [
    "ask",
    "threads:*",
    "*:read",
    "agents:not-there-yet",
    "collections:My notes",
    "post.letters",
    "post.*",
  ];
  const { status, body } = await ask<{ key: { scopes: string[] } }>("POST", "/api/auth/keys", {
    token: login,
    body: { label: "taken", scopes: [...scopes, "agent:coder", "admin"] },
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body.key.scopes, [...scopes, "agents:coder", "admin:*"]);
});
