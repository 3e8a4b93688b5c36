import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { startServerProcess } from "./server-process.ts";

test("a stop that needs its whole grace ends well, and says that the run goes on", async (context) => {
  const asked = Promise.withResolvers<void>();
  const hanging = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => asked.resolve());
  }).listen(0, "127.0.0.1");
  await once(hanging, "listening");
  context.after(() => hanging.close());
  const cwd = temporaryFolder("grace");
  const { port } = hanging.address() as AddressInfo;
  const models = [{ id: "default", provider: "openai", model: "slow", baseUrl: `http://127.0.0.1:${port}/v1` }];
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models }));
  const env = { COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_LOG_LEVEL: "warn" };
  const server = await startServerProcess({ cwd, env });
  context.after(() => server.end("SIGKILL"));
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "assistant", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  await asked.promise;
  await server.end("SIGTERM");
  assert.match(await answer.text(), /server_stops/);
  assert.deepEqual(await server.gone, [0, null]);
  assert.doesNotMatch(server.output(), /could not/);
});
