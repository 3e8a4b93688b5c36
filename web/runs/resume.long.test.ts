import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildPage } from "../../test/build-page.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { temporaryFolder } from "../../test/pglite.ts";
import { type ServerProcess, startServerProcess } from "../../test/server-process.ts";

const pictures = process.env["COLLOQUY_TEST_PICTURES"];

describe("a run that was stopped", { skip: skipBrowser }, () => {
  let server: ServerProcess;
  let model: ModelServer;
  let browser: OpenBrowser;
  before(async () => {
    buildPage();
    [model, browser] = await Promise.all([startModelServer(), openBrowser()]);
    const cwd = temporaryFolder("resume-page");
    const served = { id: "served", provider: "openai", baseUrl: `${model.url}/v1`, model: "served", apiKey: "none" };
    writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models: [served] }));
    server = await startServerProcess({ cwd, env: { COLLOQUY_LOG_LEVEL: "warn" } });
  });
  after(async () => {
    await browser.close();
    await server.end("SIGKILL");
    await model.close();
  });

  for (const [locale, say] of Object.entries({
    en: {
      resume: /^Resume/,
      by: "Resumed by owner.",
      stopped: "Stopped.",
      fork: "Fork from here",
      forked: /^Forked from another run after step 1/,
      kept: "done, kept",
      keptFrom: "Kept from the run this one was forked from",
    },
    de: {
      resume: /^Fortsetzen/,
      by: "Fortgesetzt von owner.",
      stopped: "Angehalten.",
      fork: "Ab hier abzweigen",
      forked: /^Nach Schritt 1 von einem anderen Lauf abgezweigt/,
      kept: "fertig, übernommen",
      keptFrom: "Übernommen aus dem Lauf, von dem dieser abgezweigt wurde",
    },
  }))
    test(`goes on in the conversation, and is forked from its trace (${locale})`, { timeout: 240_000 }, async () => {
      let asked = 0;
      model.always(() => {
        asked++;
        if (asked === 1) return { calls: [{ name: "add_task", arguments: { title: `Milk ${locale}` } }] };
        if (asked === 2) return { text: Array.from({ length: 1200 }, () => "and on "), paceMs: 500 };
        return { text: asked === 3 ? "Milk is noted." : "Noted on a branch." };
      });
      const thread = await server.client.createThread();
      const { id } = await server.client.startRun(thread.id, { agent: "assistant", content: "note the milk" });
      for await (const { event } of server.client.follow(id)) if (event.type === "text-delta") break;
      await server.client.cancel(id);
      const page = await browser.open(`${server.url}/chat/${thread.id}`, {
        viewport: { width: 1280, height: 850 },
        locale,
      });
      const shoot = async (name: string) => {
        if (pictures === undefined) return;
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: join(pictures, `${name}-${locale}.png`) });
      };
      await page.getByText(say.stopped).first().waitFor();
      await shoot("stopped");
      await page.getByRole("main").getByRole("button", { name: say.resume }).click();
      await page.getByText("Milk is noted.").waitFor();
      await page.getByText(say.by).waitFor();
      const text = await page.getByRole("main").innerText();
      assert.ok(text.indexOf(say.by) < text.indexOf("Milk is noted."), "in the order in which it happened");
      assert.equal(await page.getByText("and on and on").count(), 0, "the half answer is gone");
      assert.equal(await page.getByRole("button", { name: say.resume }).count(), 0);
      await shoot("resumed");
      assert.deepEqual(await violationsOf(page), []);
      assert.equal((await server.client.run(id)).status, "done");
      assert.equal(asked, 3);

      await page.goto(`${server.url}/runs/${id}`);
      await page.getByRole("row", { name: /add_task/ }).click();
      await shoot("trace");
      await page.getByRole("button", { name: say.fork, exact: true }).click();
      await page.getByRole("link", { name: say.forked }).waitFor();
      await page.getByRole("row", { name: /Noted on a branch\./ }).waitFor();
      await shoot("forked");
      assert.deepEqual(await violationsOf(page), []);
      assert.equal(asked, 4, "only what follows the step was asked");
      const { result } = await server.client.callTool("list_tasks", {});
      assert.equal(result?.content.split(`Milk ${locale}`).length, 2, "one task");

      await page.goto(`${server.url}/chat/${thread.id}`);
      await page.getByText("Noted on a branch.").waitFor();
      await page.getByText(say.kept).click();
      const from = page.getByRole("link", { name: say.keptFrom });
      assert.ok((await from.getAttribute("href"))?.endsWith(`/runs/${id}`), "and from which run");
      await shoot("branch");
      assert.deepEqual(browser.complaints(), []);
    });
});
