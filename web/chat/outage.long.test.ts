import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  sayOn,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";

describe("a model that is away", { skip: skipBrowser }, () => {
  let model: ModelServer;
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    model = await startModelServer();
    server = await servePage(
      [],
      {},
      {
        agents: [agentSchema.parse({ id: "distant", model: "far" })],
        models: [
          { id: "far", provider: "ollama", baseUrl: model.url, model: "qwen3" },
          { id: "spare", provider: "scripted", script: ["The spare one says hello."] },
        ],
        outages: { retryMs: 4000, baseMs: 2000, firstMs: 240_000, longestMs: 300_000 },
      },
    );
    browser = await openBrowser();
    page = await browser.open(`${server.url}/?agent=distant`, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
    await model.close();
  });
  const log = () => page.getByRole("log");
  const ask = async (text: string) => {
    await page.getByRole("textbox", { name: /Message|Nachricht/ }).waitFor();
    await sayOn(page, text);
  };

  test("it is said at once, and half of its answer is gone", async () => {
    model.answer({ text: "half a sen", fault: "cut" });
    model.always({ status: 500, error: "out of memory" });
    await ask("@distant hello");
    await log()
      .getByText(
        /^Ollama at 127\.0\.0\.1:\d+ (stopped in the middle of its answer|reported an internal error); retrying in \d s$/,
      )
      .waitFor();
    await pictureOf(page, "outage trying again");
    assert.equal(await log().getByText("half a sen").count(), 0);
  });

  test("then the run waits, says when it is asked again, and goes on when a person says so", async () => {
    await log()
      .getByText(/^Retries automatically in \d min\.$/)
      .waitFor();
    await pictureOf(page, "outage waits");
    assert.deepEqual(await violationsOf(page), []);
    await page.goto(`${server.url}/runs`);
    await page.getByText(/waiting for the model, next attempt at \d/).waitFor();
    await pictureOf(page, "outage runs");
    await page.goBack();
    model.always("It is back.");
    await log().getByRole("button", { name: "Retry now" }).click();
    await log().getByText("It is back.").waitFor();
    await log().getByText("Retried.").waitFor();
  });

  test("another model goes on, chosen from those that are there", async () => {
    model.always({ status: 529, error: "busy" });
    await ask("and again?");
    await log().getByRole("button", { name: "Another model" }).last().click();
    const which = log().getByRole("combobox", { name: "Which model?" });
    await pictureOf(page, "outage another model");
    await which.selectOption("spare");
    await log().getByText("The spare one says hello.").waitFor();
  });

  test("in German too, with an end", async () => {
    const german = await browser.open(page.url(), { locale: "de-DE", viewport: { width: 420, height: 800 } });
    await german.getByRole("textbox", { name: "Nachricht" }).fill("und jetzt?");
    await german.keyboard.press("Enter");
    const said = german.getByRole("log");
    await said.getByText(/^Ollama auf 127\.0\.0\.1:\d+ ist überlastet; neuer Versuch in \d s$/).waitFor();
    await said.getByText(/^Automatischer neuer Versuch in \d min\.$/).waitFor();
    await pictureOf(german, "outage German");
    await said.getByRole("button", { name: "Lauf beenden" }).click();
    await said.getByText("Lauf beendet.").waitFor();
    await german.close();
  });

  test("nobody complains", () => assert.deepEqual(browser.complaints(), []));
});
