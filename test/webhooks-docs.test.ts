import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { startWebhooks } from "../src/webhooks/deliver.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { until } from "./run-suite.ts";
import { startTestRuns } from "./runs.ts";

const page = readFileSync(join(import.meta.dirname, "../docs/webhooks.md"), "utf8");
const secret = "sixteen-letters-or-more";

function example(language: string): string {
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)![1]!;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The status of an answer; undefined while nobody listens. */
async function post(port: number, headers: Record<string, string>): Promise<number | undefined> {
  const asked = request({ host: "127.0.0.1", port, method: "POST", headers }).end("{}");
  try {
    const [response] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
    response.resume();
    return response.statusCode;
  } catch {
    return undefined;
  }
}

test("the receiver of webhooks.md takes what its configuration sends, and nothing that is forged", async (context) => {
  const port = await freePort();
  const cwd = temporaryFolder("docs");
  writeFileSync(join(cwd, "colloquy.yaml"), example("yaml"));
  const { webhooks } = loadConfig({ cwd, env: { DESK_WEBHOOK_SECRET: secret } });
  const [hook] = webhooks;
  assert.equal(hook?.secret, secret);

  const receiver = spawn(process.execPath, ["--input-type=module", "-e", example("js")], {
    env: { PORT: String(port), DESK_WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => receiver.kill());
  const lines: string[] = [];
  createInterface({ input: receiver.stdout }).on("line", (line) => lines.push(line));
  await until(async () => (await post(port, {})) === 401, "the receiver");
  const signature = `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`;
  assert.equal(await post(port, { "x-colloquy-signature": signature }), 401);

  const database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  context.after(database.close);
  await migrate(database);
  const sender = startWebhooks({
    database,
    hooks: [{ ...hook!, url: `http://127.0.0.1:${port}/hooks/colloquy` }],
    log: silentLog,
    pollMs: 20,
  });
  context.after(() => sender.stop(0));
  const runs = await startTestRuns({
    database,
    script: ["Hello"],
    hooksFor: (event) => webhooks.filter(({ events }) => events.includes(event)).map(({ name }) => name),
  });
  context.after(() => runs.stop(0));
  const { started } = await runs.ask("hi");
  await until(() => lines.length > 0, "the delivery");
  assert.deepEqual(lines, [`run.done ${started.runId}`]);
});
