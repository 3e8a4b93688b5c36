import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  agree,
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  violationsOf,
} from "../../test/browser.ts";
import { createClient } from "../../src/client/client.ts";

describe("the schedules", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => "done");
    browser = await openBrowser();
    const look = {
      viewport: { width: 1200, height: 800 },
      timezoneId: "Europe/Paris",
      serviceWorkers: "block",
    } as const;
    page = await browser.open(`${server.url}/schedules`, look);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const one = (prompt: string) => page.getByRole("main").getByRole("listitem").filter({ hasText: prompt });
  const findsNothing = async (state: string, shown = page) => assert.deepEqual(await violationsOf(shown), [], state);

  test("one is made, with the next times told before", async () => {
    await page.getByText("No schedules yet.").waitFor();
    await findsNothing("empty");
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("region", { name: "New schedule" });
    await form.getByText(/^Next times: .*08:30 · .*08:30/).waitFor();
    assert.equal(await form.getByLabel("Time zone").inputValue(), "Europe/Paris");
    await form.getByRole("combobox", { name: "Repeat" }).selectOption("week");
    await form.getByRole("combobox", { name: "On", exact: true }).selectOption("Tuesday");
    await form.getByLabel("At", { exact: true }).fill("07:15");
    await form.getByText(/^Next times: .*07:15 · .*07:15/).waitFor();
    await findsNothing("form");
    await form.getByLabel("What should the agent do?").fill("Tell me what is due.");
    await form.getByRole("button", { name: "Save" }).click();
    await one("what is due").getByText("@assistant, every Tuesday at 07:15").waitFor();
    await one("what is due").getByText("next: ").waitFor();
    await findsNothing("list");
  });

  test("a wrong time is refused, and what was typed stays", async () => {
    await one("what is due").getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("region", { name: "Edit schedule" });
    await form.getByRole("combobox", { name: "Repeat" }).selectOption("cron");
    assert.equal(await form.getByLabel("Minute, hour, day, month, weekday").inputValue(), "15 7 * * 2");
    await form.getByLabel("Minute, hour, day, month, weekday").fill("61 * * *");
    await form.getByText("five fields (minute, hour, day, month, weekday); this one has 4.").waitFor();
    await form.getByLabel("Minute, hour, day, month, weekday").fill("0 25 * * *");
    await form.getByText(/25/).first().waitFor();
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    assert.equal(await form.getByLabel("What should the agent do?").inputValue(), "Tell me what is due.");
    await form.getByLabel("Minute, hour, day, month, weekday").fill("0 9 1 jan *");
    await form.getByLabel("Time zone").fill("Asia/Kolkata");
    await form.getByRole("button", { name: "Save" }).click();
    await one("what is due").getByText("cron 0 9 1 jan * (Asia/Kolkata)").waitFor();
  });

  test("it is paused, run now, followed, deleted", async () => {
    await one("what is due").getByRole("button", { name: "Pause" }).click();
    await one("what is due").getByText("paused").waitFor();
    // Where it was pressed one goes on.
    await one("what is due").locator("button:focus").getByText("Resume").waitFor();
    await one("what is due").getByRole("button", { name: "Run now" }).click();
    await one("what is due").getByText("Started.").waitFor();
    await one("what is due").getByRole("button", { name: "Resume" }).click();
    await one("what is due").getByText("next: ").waitFor();
    await one("what is due").getByRole("link", { name: "Conversation" }).click();
    await page.getByRole("log").getByText("done").waitFor();
    await page.goBack();
    await one("what is due").getByRole("button", { name: "Delete" }).click();
    await agree(page, "Delete");
    await page.getByText("No schedules yet.").waitFor();
  });

  test("why nothing can be scheduled is said, and it is tried again", async () => {
    await page.route("**/api/agents*", (route) =>
      route.fulfill({ status: 503, json: { error: { message: "not now" } } }),
    );
    await page.goto(`${server.url}/schedules?new=1`);
    await page.getByText("not now").waitFor();
    await page.unroute("**/api/agents*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("region", { name: "New schedule" }).waitFor();
  });

  test("in the dark, on a phone, in German", async () => {
    const { schedules } = createClient({ url: server.url });
    await schedules.create({ agent: "assistant", prompt: "Was ist neu?", every: "6h", timeZone: "Asia/Kolkata" });
    const phone = await browser.open(`${server.url}/schedules?new=1`, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    await phone.getByText("alle 6 Stunden (Asia/Kolkata)").waitFor();
    await phone.getByText(/^Nächste Termine: /).waitFor();
    await findsNothing("phone", phone);
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    const refused = /^Failed to load resource: the server responded with a status of (400|503)|blocked by Playwright/;
    assert.deepEqual(
      browser.complaints().filter((text) => !refused.test(text)),
      [],
    );
  });
});
