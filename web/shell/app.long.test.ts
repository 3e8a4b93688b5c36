import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { setTimeout as sleep } from "node:timers/promises";
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
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";

let answers: ScriptAnswer[] = [];

describe("the frame of the page", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => answers.shift() ?? "an answer");
    browser = await openBrowser();
    page = await browser.open(server.url, {
      viewport: { width: 1200, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const focused = () => page.evaluate("document.activeElement.textContent.trim() || document.activeElement.ariaLabel");
  const titled = async (title: string) => {
    while ((await page.title()) !== title) await sleep(20);
  };
  const say = (text: string) => sayOn(page, text);

  test("by keyboard alone to every view: its heading has the focus, its title is said", async () => {
    await page.evaluate("document.body.tabIndex = -1; document.body.focus()");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "main");
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "General" }).waitFor();
    await page.locator("h1:focus").waitFor();
    await titled("Settings – Colloquy");
    await page.getByRole("status").getByText("Settings").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await titled("Administration – Colloquy");
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.locator("[data-composer]:focus").waitFor();
    await titled("Colloquy");
  });

  test("keys do what the help says of them, and not what is off", async () => {
    await page.keyboard.press("Control+b");
    await page.getByRole("navigation", { name: "Conversations" }).waitFor({ state: "detached" });
    await page.keyboard.press("Shift+Escape");
    await page.getByRole("heading", { name: "What can I help with?" }).click();
    await page.keyboard.press("/");
    await page.locator("[type=search]:focus").waitFor();
    await page.keyboard.press("Shift+Escape");
    await page.locator("[data-composer]:focus").waitFor();
    await page.keyboard.type("?");
    assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "?");
    answers = ["the reply", [{ text: "another" }, { hang: true }]];
    await say("hello");
    await page.getByRole("log").getByText("the reply").waitFor();
    await page.locator("[role=log][aria-busy=false]").waitFor();
    await titled("hello – Colloquy");
    await page.keyboard.press("Control+Shift+L");
    await page.getByText("Copied", { exact: true }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), "the reply");
    await page.keyboard.press("Control+Shift+F");
    await page.getByRole("log").getByText("another").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("log").getByText("Stopped.").waitFor();
    await page.keyboard.press("Control+Shift+O");
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();

    await page.getByRole("heading", { name: "What can I help with?" }).click();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByText("Copy the last answer").waitFor();
    assert.deepEqual(await violationsOf(page), [], "help");
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
  });

  test("on a phone the list is a sheet that keeps the focus and gives it back", async () => {
    const phone = await browser.open(server.url, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const open = phone.getByRole("button", { name: "Show conversations" });
    await open.focus();
    await phone.keyboard.press("Enter");
    const sheet = phone.getByRole("dialog", { name: "Menu" });
    await sheet.waitFor();
    for (let presses = 0; presses < 30; presses++) {
      await phone.keyboard.press("Tab");
      assert.ok(
        await phone.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')"),
      );
    }
    assert.deepEqual(await violationsOf(phone), [], "sheet");
    await phone.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await phone.locator("[aria-label='Show conversations']:focus").waitFor();
    await open.click();
    await sheet.waitFor();
    await phone.mouse.click(350, 400);
    await sheet.waitFor({ state: "detached" });
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await phone.close();
  });

  test("tabs of one browser keep step: theme, list, keys", async () => {
    const other = await page.context().newPage();
    await other.goto(`${server.url}/settings`);
    await other.getByRole("combobox", { name: "Theme" }).selectOption("dark");
    await page.locator("html[data-theme=dark]").waitFor();
    await page.keyboard.press("Control+b");
    await other.getByRole("navigation", { name: "Conversations" }).waitFor({ state: "detached" });
    await page.keyboard.press("Control+b");
    await other.goto(`${server.url}/settings/shortcuts`);
    await other.getByLabel("Enable keyboard shortcuts").uncheck();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).click();
    await page.getByText("All shortcuts are turned off.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+b");
    assert.equal(await page.getByRole("navigation", { name: "Conversations" }).count(), 1);
    await other.getByLabel("Enable keyboard shortcuts").check();
    await other.goto(`${server.url}/settings`);
    await other.getByRole("combobox", { name: "Language" }).selectOption("de");
    await page.getByRole("heading", { name: "Womit kann ich helfen?" }).waitFor();
    await other.getByRole("combobox", { name: "Sprache" }).selectOption("");
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    // Not over what somebody writes there.
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill("half a thought");
    const told = page.evaluate("new Promise((told) => addEventListener('storage', () => setTimeout(told)))");
    await other.getByRole("combobox", { name: "Language" }).selectOption("de");
    await told;
    assert.equal(await page.evaluate("document.documentElement.lang"), "en");
    await message.fill("");
    await other.getByRole("combobox", { name: "Sprache" }).selectOption("");
    await other.getByRole("heading", { name: "General" }).waitFor();
    await other.close();
  });

  test("asks nothing of other hosts, and complains of nothing", () => {
    assert.deepEqual(browser.complaints(), []);
  });
});
