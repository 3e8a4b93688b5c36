import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, test } from "node:test";
import { agentSchema } from "../src/protocol/agents/agents.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { parentHeader } from "../src/run/step/request-origin.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

let server: AgentServing;
let front: { readonly url: string; readonly headers: (string | undefined)[]; close(): void };

/** A proxy before our own server, as there is one in most installations; it must be there before the models are made. */
async function startFront(target: () => string): Promise<typeof front> {
  const headers: (string | undefined)[] = [];
  const proxy = createServer((request, response) => {
    const parent = request.headers[parentHeader];
    headers.push(parent === undefined ? undefined : String(parent));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void fetch(target() + request.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(parent === undefined ? {} : { [parentHeader]: String(parent) }),
        },
        body: Buffer.concat(chunks),
      }).then(async (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        await pipeline(Readable.fromWeb(answer.body!), response).catch(() => {});
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  assert(address && typeof address === "object");
  return {
    url: `http://127.0.0.1:${address.port}`,
    headers,
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

/** The agents' own model; `outer` and `outermost` have agents of this server for a model. */
function script({ messages }: ModelRequest) {
  const last = messages.at(-1)!;
  const said = String(last.content);
  if (last.role === "tool") return "It is on the list.";
  if (said === "task") return [{ call: "add_task", arguments: { title: "Milk" } }];
  return `heard ${said}`;
}

before(async () => {
  front = await startFront(() => server.url);
  const proxied = (id: string, name: string) =>
    ({ id, provider: "openai", baseUrl: `${front.url}/v1`, model: name, apiKey: "none" }) as const;
  server = await serveAgents(
    script,
    {},
    {
      perUser: 1,
      models: [proxied("via-assistant", "assistant"), proxied("via-outer", "outer")],
      isOwn: (url) => url.origin === front.url,
      agents: [
        agentSchema.parse({ id: "outer", model: "via-assistant" }),
        agentSchema.parse({ id: "outermost", model: "via-outer" }),
      ],
    },
  );
});
after(async () => {
  await server.close();
  front.close();
});

async function ask(model: string, content: string): Promise<{ response: Response; text: string }> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  const body = (await response.json()) as {
    choices?: { message: { content: string } }[];
    error?: { message: string };
  };
  return { response, text: body.choices?.[0]?.message.content ?? body.error?.message ?? "" };
}

const treeOf = (runId: string) =>
  server.database.query<{ agent: string; status: string; root: boolean }>(
    "select agent, status, parent_run is null as root from runs where root_run = $1 order by id",
    [runId],
  );

test("an agent whose model is an agent of this server does not wait for itself", async () => {
  const { response, text } = await ask("outermost", "hello");
  assert.equal(text, "heard hello");
  const runId = response.headers.get("x-colloquy-run")!;
  assert.deepEqual(await treeOf(runId), [
    { agent: "outermost", status: "done", root: true },
    { agent: "outer", status: "done", root: false },
    { agent: "assistant", status: "done", root: false },
  ]);
  const [budget] = await server.database.query<{ steps: number }>("select steps from budgets where root_run = $1", [
    runId,
  ]);
  assert.equal(budget!.steps, 3, "all of it is paid from one budget");
});

test("what it does there is done once, as a part of the same run", async () => {
  const { response, text } = await ask("outer", "task");
  assert.equal(text, "It is on the list.");
  assert.equal((await treeOf(response.headers.get("x-colloquy-run")!)).length, 2);
  assert.equal((await server.database.query("select 1 from tasks")).length, 1);
});

test("a header that was not signed here, or by a run that has moved on, opens nothing", async () => {
  const forged = Buffer.from(JSON.stringify(["x", 1, "1"])).toString("base64url") + ".AAAA";
  const send = (header: string) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", [parentHeader]: header },
      body: JSON.stringify({ model: "assistant", messages: [{ role: "user", content: "hi" }] }),
    });
  const answer = await send(forged);
  assert.equal(answer.status, 200);
  const run = answer.headers.get("x-colloquy-run")!;
  await answer.text();
  assert.equal((await treeOf(run))[0]!.root, true, "an ordinary run");
  for (const odd of ["", ".", "a.b.c", "é"]) assert.equal((await send(encodeURIComponent(odd))).status, 200);
  const stale = await send(front.headers.find((header) => header !== undefined)!);
  assert.equal(stale.status, 409);
  assert.match(await stale.text(), /stale_parent/);
});
