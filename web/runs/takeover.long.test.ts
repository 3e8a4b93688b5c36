import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildPage } from "../../test/build-page.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { skipDatabase } from "../../test/left-out.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { type PostgresServer, startPostgres } from "../../test/postgres.ts";
import { type ServerProcess, startServerProcess } from "../../test/server-process.ts";

describe("a run whose process is killed", { skip: skipBrowser || skipDatabase("postgres") }, () => {
  let postgres: PostgresServer;
  let model: ModelServer;
  let browser: OpenBrowser;
  const nodes: ServerProcess[] = [];
  before(async () => {
    buildPage();
    [postgres, model, browser] = await Promise.all([startPostgres(), startModelServer(), openBrowser()]);
  });
  after(async () => {
    await browser.close();
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
    await Promise.all([postgres.stop(), model.close()]);
  });

  test("goes on in another before one's eyes, with a mark where it was taken over", { timeout: 180_000 }, async () => {
    const cwd = temporaryFolder("takeover-page");
    const served = { id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" };
    writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models: [served] }));
    const database = await postgres.createDatabase();
    const start = async () => {
      const env = { DATABASE_URL: database, COLLOQUY_LOG_LEVEL: "warn" };
      const node = await startServerProcess({ cwd, env });
      nodes.push(node);
      return node;
    };
    const first = await start();
    let asked = 0;
    model.always(() =>
      asked++ === 0 ? { text: Array.from({ length: 1200 }, () => "and on "), paceMs: 500 } : "Taken over.",
    );
    const thread = await first.client.createThread();
    const { id } = await first.client.startRun(thread.id, { agent: "assistant", content: "work for long" });
    for await (const { event } of first.client.follow(id)) if (event.type === "text-delta") break;
    const second = await start();
    const page = await browser.open(`${second.url}/runs/${id}`, { viewport: { width: 1280, height: 850 } });
    await page.getByRole("row", { name: /calling the model/ }).waitFor();
    await first.end("SIGKILL");
    await page.getByText(/taken over by …[0-9a-f]{4} after \d+/).waitFor({ timeout: 120_000 });
    await page.getByRole("row", { name: /^Lost with its process …/ }).waitFor();
    await page.getByRole("row", { name: /Taken over\./ }).waitFor();
    await page.getByRole("status").getByText("done").waitFor();
    assert.equal(await page.locator(".trace-head .trace-take[data-over=true]").count(), 1);
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(browser.complaints(), []);
  });
});
