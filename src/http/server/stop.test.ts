import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, test } from "node:test";
import { until } from "../../../test/run-suite.ts";
import { serve, type Serving } from "../../../test/serve.ts";
import { type AgentServing, serveAgents } from "../../../test/serve-agents.ts";

let gate: PromiseWithResolvers<void>;
let agents: AgentServing;
let goesOn = true;
beforeEach(async () => {
  gate = Promise.withResolvers();
  agents = await serveAgents(() => [
    { text: "half" },
    goesOn ? { gate: () => gate.promise } : { hang: true },
    { text: " and half" },
  ]);
});
afterEach(() => agents.close());

/** One that stops its runs too, as the whole program does. */
function begin(graceMs: number): Promise<Serving> {
  const { unready, drain } = agents.service;
  return serve({ ...agents.services, unready, drain, server: { corsOrigins: [], graceMs } });
}

const ask = (url: string, more: object = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", messages: [{ role: "user", content: "hi" }], ...more }),
  });

test("while it stops probes hear it, what is new is refused, and what is under way is answered to its end", async () => {
  // Longer than the test may take: nothing waits for the end of this.
  const { url, close } = await begin(600_000);
  const unused = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  await once(unused, "connect");
  const whole = ask(url);
  const streamed = await ask(url, { stream: true });
  await until(() => agents.model.requests.length === 2);
  const thread = streamed.headers.get("x-colloquy-thread")!;
  const followed = await fetch(`${url}/api/threads/${thread}/events`);
  let isClosed = false;
  const closed = close().then(() => (isClosed = true));
  await until(async () => (await fetch(`${url}/readyz`)).status === 503);
  assert.equal((await fetch(`${url}/livez`)).status, 200);
  const refused = await ask(url);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.equal(refused.headers.get("connection"), "close");
  assert.equal(isClosed, false);
  gate.resolve();
  assert.match(await (await whole).text(), /half and half/);
  assert.match(await streamed.text(), / and half.*\[DONE\]/s);
  assert.match(await followed.text(), /event: run-end.*: the server stops/s);
  await closed;
  await assert.rejects(fetch(`${url}/livez`));
  assert.ok(unused.destroyed || (await once(unused, "close")));
});

test("what does not end in time is handed over, and whoever waits for it is told so", async () => {
  goesOn = false;
  const { url, close } = await begin(0);
  const whole = ask(url);
  const streamed = await ask(url, { stream: true });
  await until(() => agents.model.requests.length === 2);
  await close();
  const answer = await whole;
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /server_stops/);
  assert.match(await streamed.text(), /server_stops/);
  const run = answer.headers.get("x-colloquy-run")!;
  assert.equal((await agents.runs.get(agents.caller, run)).status, "queued");
});
