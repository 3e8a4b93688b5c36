import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";
import { indexAllBut, unindexedCollection } from "../../test/unindexed.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { silentLog } from "../../src/protocol/base/log.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { openDatabase } from "../../src/store/driver/open.ts";

describe("the view of knowledge while words are indexed", { skip: skipBrowser }, () => {
  let colloquy: Colloquy;
  let browser: OpenBrowser;
  let id: string;
  before(async () => {
    buildPage();
    const dataDirectory = await freshDataDirectory();
    const database = await openDatabase({ dataDirectory });
    await migrate(database);
    const texts = Array.from({ length: 20 }, (_, at) => `The heron of the pond ${at}.`);
    const { collection } = await unindexedCollection(database, texts);
    id = collection.id;
    await indexAllBut(database, collection, "ordinal >= 7");
    await database.close();
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: dataDirectory,
      COLLOQUY_PROBE: "false",
      COLLOQUY_TITLES: "first-words",
      COLLOQUY_PORT: "0",
    };
    // It does no work of its own: what is not indexed stays so.
    const config = loadConfig({ env, cwd: temporaryFolder("indexing") });
    colloquy = await startColloquy(config, { log: silentLog, runsJobs: false });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await colloquy.stop();
  });

  for (const [locale, { indexing, search }] of Object.entries({
    en: { indexing: "indexing 35%", search: "Search" },
    de: { indexing: "wird indiziert: 35 %", search: "Suchen" },
  }))
    test(`says how far it is, and finds everything (${locale})`, async () => {
      const look = { viewport: { width: 1200, height: 850 }, serviceWorkers: "block", locale } as const;
      const page: Page = await browser.open(`${colloquy.url}/knowledge`, look);
      const whole = async (state: string) => {
        await pictureOf(page, `indexing ${locale} ${state}`);
        assert.deepEqual(await violationsOf(page), [], state);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0, state);
      };
      await page.getByRole("row").filter({ hasText: indexing }).waitFor();
      await whole("collections");
      await page.goto(`${colloquy.url}/knowledge/${id}?show=ask`);
      await page.locator("header").getByText(indexing).waitFor();
      await page.locator("form textarea").fill("pond 19");
      await page.getByRole("button", { name: search, exact: true }).click();
      await page.locator("details").getByText(indexing).waitFor();
      await page.getByText("The heron of the pond 19.").first().waitFor();
      await whole("trace");
    });
});
