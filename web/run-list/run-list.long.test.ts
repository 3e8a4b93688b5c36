import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { until } from "../../test/run-suite.ts";
import { createClient } from "../../src/client/client.ts";

const wide = { viewport: { width: 1440, height: 900 }, serviceWorkers: "block" } as const;

describe("the list of runs", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  const gate = Promise.withResolvers<void>();
  before(async () => {
    server = await servePage(({ messages }) => {
      const asked = String(messages.findLast(({ role }) => role === "user")?.content);
      if (asked === "slow") return [{ text: "one moment" }, { gate: () => gate.promise }];
      return asked === "fail" ? [{ error: "refused", message: "not with me" }] : "x ".repeat(asked.length * 20);
    });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/runs`, wide);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const client = () => createClient({ url: server.url });
  const begin = async (content: string | readonly { type: "image"; url: string }[], title?: string) => {
    const thread = await client().createThread(title === undefined ? {} : { title });
    return (await client().startRun(thread.id, { agent: "assistant", content: content as string })).id;
  };
  const whole = async (content: string) => {
    const id = await begin(content);
    for await (const { event } of client().follow(id)) if (event.type === "run-wait") break;
    return id;
  };
  const titles = () => page.locator(".run-link").allInnerTexts();

  test("what works has another mark than what is done, and all is sorted by a head", async () => {
    for (const content of ["short", "a much longer question", "fail"]) await whole(content);
    await begin("slow");
    await page.goto(`${server.url}/runs`);
    const running = page.getByRole("row", { name: "slow" });
    await running.getByText("◐", { exact: true }).waitFor();
    await running.getByText("running").waitFor();
    await page.getByRole("row", { name: "short" }).getByText("●", { exact: true }).waitFor();
    gate.resolve();
    await page.getByRole("row", { name: "slow" }).getByText("done").waitFor();
    await page.getByRole("button", { name: "Tokens" }).click();
    await until(async () => (await titles())[0] === "a much longer question");
    assert.ok(page.url().endsWith("?sort=-tokens"));
    assert.equal(await page.getByRole("columnheader", { name: "Tokens" }).getAttribute("aria-sort"), "descending");
    await page.getByRole("button", { name: "Tokens" }).click();
    await until(async () => (await titles()).at(-1) === "a much longer question");
    assert.deepEqual(await violationsOf(page), []);
  });

  test("arrows lead through it, from its frame on, and Enter opens", async () => {
    await page.goto(`${server.url}/runs`);
    await page.getByRole("region", { name: "Runs" }).focus();
    await page.keyboard.press("ArrowDown");
    await untilTrue(page, "document.activeElement.textContent === 'slow'");
    await page.keyboard.press("End");
    await untilTrue(page, "document.activeElement.textContent === 'short'");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "a much longer question" }).waitFor();
    await page.getByRole("treegrid").getByRole("row").nth(2).click();
    await page.getByRole("region", { name: "Step 1" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "Step 1" }).waitFor({ state: "detached" });
  });

  test("what has no words is called by its conversation", async () => {
    const picture =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await begin([{ type: "image", url: picture }], "My picture");
    await page.goto(`${server.url}/runs`);
    await page.getByRole("link", { name: "My picture", exact: true }).waitFor();
    assert.equal(await page.getByText("(no text)").count(), 0);
  });

  test("a filter gets a name, is shown in another browser, renamed, and deleted", async () => {
    await page.goto(`${server.url}/runs?status=failed&sort=-tokens`);
    await page.getByRole("button", { name: "Save filter" }).click();
    await untilTrue(page, "document.activeElement.closest('form')?.ariaLabel === 'Save filter'");
    await page.keyboard.type("What went wrong");
    await page.keyboard.press("Enter");
    const chips = page.getByRole("region", { name: "Saved filters" });
    const chip = chips.getByRole("button", { name: "What went wrong", exact: true });
    await chip.waitFor();
    assert.equal(await chip.getAttribute("aria-pressed"), "true");
    assert.equal(await chips.getByRole("button", { name: "Save filter" }).count(), 0);
    assert.deepEqual(await violationsOf(page), []);

    const other = await browser.open(`${server.url}/runs`, wide);
    const theirs = other.getByRole("region", { name: "Saved filters" });
    await theirs.getByRole("button", { name: "What went wrong", exact: true }).click();
    await other.getByRole("link", { name: "fail", exact: true }).waitFor();
    await other.getByRole("link", { name: "short" }).waitFor({ state: "detached" });
    assert.equal(new URL(other.url()).search, "?status=failed&sort=-tokens");
    await theirs.getByRole("button", { name: "What went wrong", exact: true }).click();
    await other.getByRole("link", { name: "short" }).waitFor();

    await theirs.getByRole("button", { name: "Saved filter What went wrong" }).click();
    await other.getByRole("menuitem", { name: "Rename" }).click();
    await other.getByRole("form", { name: "Rename" }).getByLabel("Name").fill("أخطاء");
    await other.keyboard.press("Enter");
    await theirs.getByRole("button", { name: "أخطاء", exact: true }).waitFor();
    // The first one hears of it by itself.
    await chips.getByRole("button", { name: "أخطاء", exact: true }).waitFor();
    await chips.getByRole("button", { name: "Saved filter أخطاء" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await theirs.waitFor({ state: "detached" });
    await other.context().close();
  });

  test("those of the admin's list are its own", async () => {
    await page.goto(`${server.url}/admin/runs?status=done`);
    await page.getByRole("button", { name: "Save filter" }).click();
    await page.getByRole("form", { name: "Save filter" }).getByLabel("Name").fill("All that is done");
    await page.keyboard.press("Enter");
    const chip = page.getByRole("button", { name: "All that is done", exact: true });
    await chip.waitFor();
    await page.goto(`${server.url}/runs`);
    await page.getByRole("link", { name: "short" }).waitFor();
    assert.equal(await chip.count(), 0);
  });
});
