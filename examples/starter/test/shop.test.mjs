import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const project = dirname(import.meta.dirname);
/** Where Colloquy is; without the variable, two folders up, where this example lies in its checkout. */
const colloquy = process.env.COLLOQUY ?? join(project, "../../colloquy");

let server;
let url;
const folder = mkdtempSync(join(tmpdir(), "shop-"));

before(async () => {
  server = spawn(colloquy, ["serve"], {
    cwd: project,
    env: {
      ...process.env,
      COLLOQUY_CONFIG: "test/colloquy.yaml",
      COLLOQUY_DATA: folder,
      COLLOQUY_PORT: "0",
      COLLOQUY_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: server.stdout })) {
    url = /listening +(http:\S+)/.exec(line)?.[1];
    if (url) break;
  }
  assert.ok(url, "the server did not start");
  server.stdout.resume();
});

after(async () => {
  const gone = once(server, "exit");
  server.kill("SIGTERM");
  await gone;
  rmSync(folder, { recursive: true });
});

/** Asks the agent in a new conversation, and reads what the run wrote into it. */
async function ask(message) {
  const thread = await post("/api/threads", { title: message });
  const run = await post(`/api/threads/${thread.id}/runs`, { agent: "shop", message: { content: message } });
  // The stream of events ends with the run.
  await (await fetch(`${url}/api/runs/${run.id}/events`)).text();
  const { data } = await (await fetch(`${url}/api/threads/${thread.id}/items`)).json();
  return {
    answer: data.findLast(({ kind }) => kind === "message").body,
    results: data.filter(({ kind }) => kind === "result").map(({ body }) => body),
  };
}

async function post(path, body) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return response.json();
}

test("the agent quotes the price of the tool and the stock of the MCP server", async () => {
  const { answer, results } = await ask("What do ten bags of Sidama cost, and do you have them?");
  assert.equal(answer.content, "Ten bags of Sidama cost 130.50 €, and 12 are in stock.");
  assert.deepEqual(results[0].data, { coffee: "sidama", bags: 10, euros: 130.5 });
  assert.equal(results[1].content, "12 bags of sidama are in stock.");
});

test("what is sold out is not reserved", async () => {
  const { results } = await ask("Put two bags of Antigua aside for me.");
  assert.ok(results[0].isError);
  assert.match(results[0].content, /Only 0 bags/);
});
