import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { pictureOf } from "../../test/page-pictures.ts";

describe("the palette", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => "It is in the cellar.");
    const { id } = await server.threads.createThread(server.caller, { title: "Where is the wine?" });
    await server.runs.start(server.caller, { threadId: id, agent: "assistant", message: { content: "the 1998" } });
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const palette = () => page.getByRole("dialog", { name: "Search and commands" });
  const option = (name: string | RegExp) => palette().getByRole("option", { name });
  const open = async (typed = "") => {
    await page.keyboard.press("Control+k");
    await palette().getByRole("combobox").and(page.locator(":focus")).waitFor();
    await page.keyboard.type(typed);
  };

  test("with nothing typed it has the last conversations, commands, views and agents", async () => {
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await open();
    for (const name of ["Where is the wine?", "New conversation", "Knowledge", /^@assistant/])
      await option(name).first().waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await pictureOf(page, "palette");
    await page.keyboard.press("Escape");
    await palette().waitFor({ state: "detached" });
  });

  test("a conversation is found by what was said in it", async () => {
    await open("cellar");
    await option(/Where is the wine\?.*cellar/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\//);
    await page.getByRole("log").getByText("It is in the cellar.").waitFor();
    await palette().waitFor({ state: "detached" });
  });

  test("it goes anywhere, and does what menus do", async () => {
    await open("keyboard");
    await option("Settings: Keyboard shortcuts").click();
    await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
    await open("dark");
    await option("Use dark theme").waitFor();
    await page.keyboard.press("Enter");
    await page.locator("html[data-theme=dark]").waitFor();
    await open("@assist");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Agent: @assistant" }).waitFor();
    await open("nothing like that at all");
    await palette().getByText("Nothing found.").waitFor();
    await page.keyboard.press("Escape");
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
