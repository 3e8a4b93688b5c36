import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../../test/browser.ts";
import { until } from "../../../test/run-suite.ts";
import { type AdminServing, serveAdmin } from "../../../test/serve-admin.ts";

describe("forms", { skip: skipBrowser }, () => {
  let server: AdminServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await serveAdmin();
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1280, height: 850 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const openForm = async (path: string, name: string): Promise<Locator> => {
    await page.goto(server.url + path);
    const form = page.getByRole("form", { name, exact: true });
    await form.waitFor();
    return form;
  };
  const newAgent = async (): Promise<Locator> => {
    await page.goto(`${server.url}/admin/agents`);
    await page.getByRole("button", { name: "New agent" }).click();
    const form = page.getByRole("form", { name: "New agent" });
    await form.waitFor();
    return form;
  };
  const isFocused = (field: Locator) => until(() => field.evaluate((it) => it.matches(":focus")), "focused");
  const stays = async (text: string) => {
    assert.equal(await page.getByLabel("Instructions").inputValue(), text);
    assert.match(page.url(), /admin\/agents/);
  };

  test("what is wrong is said at its field, once it is changed and left, and goes when it is changed again", async () => {
    const form = await openForm("/admin/budgets", "Set budget");
    const share = form.getByLabel("Warn at (%)");
    await share.fill("150");
    assert.equal(await form.getByRole("alert").count(), 0, "not while it is typed");
    await share.blur();
    await form.getByRole("alert").getByText("Must be at most 100.").waitFor();
    assert.equal(await share.getAttribute("aria-invalid"), "true");
    const about = (await share.getAttribute("aria-describedby"))!;
    assert.equal(await page.locator(`[id="${about}"]`).innerText(), "Must be at most 100.");
    assert.deepEqual(await violationsOf(page), []);
    await share.fill("90");
    assert.equal(await form.getByRole("alert").count(), 0);
    // The message that comes in above must not move the button away from the click that brings it.
    await share.fill("150");
    await form.getByRole("button", { name: "Set budget" }).click();
    await isFocused(share);
  });

  test("nothing is sent that lacks something; the first field that does has the focus", async () => {
    const form = await openForm("/admin/people", "Create account");
    const asked = countOf("/api/admin/users", "POST");
    await form.getByLabel("Name").focus();
    await form.getByLabel("Role").focus();
    assert.equal(await form.getByRole("alert").count(), 0, "not of what was only passed");
    await form.getByRole("button", { name: "Create account" }).click();
    await form.getByRole("alert").getByText("Required").waitFor();
    await isFocused(form.getByLabel("Name"));
    assert.equal(asked(), 0);
  });

  test("what the server finds wrong stands at its field", async () => {
    const form = await openForm("/admin/budgets", "Set budget");
    await form.getByRole("button", { name: "Set budget" }).click();
    await form.getByRole("alert").getByText("Set a limit: tokens, cost or requests.").waitFor();
    await isFocused(form.getByLabel("Tokens"));
    assert.equal(await form.getByRole("alert").count(), 1);
    assert.equal(await form.getByLabel("Tokens").getAttribute("aria-invalid"), "true");
  });

  test("a double click sends once, and what was typed stays when the server fails", async () => {
    const form = await openForm("/admin/people", "Create account");
    const asked = countOf("/api/admin/users", "POST");
    const held = Promise.withResolvers<void>();
    await page.route("**/api/admin/users", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await held.promise;
      return route.abort();
    });
    await form.getByLabel("Name").fill("grace");
    await form.getByRole("button", { name: "Create account" }).dblclick();
    await page.keyboard.press("Enter");
    await until(async () => asked() === 1, "asked");
    held.resolve();
    await form.getByRole("alert").getByText("Can't reach the server.").waitFor();
    assert.equal(await form.getByLabel("Name").inputValue(), "grace");
    assert.equal(asked(), 1);
    await page.unroute("**/api/admin/users");
  });

  test("before what was typed is left, by a link, by the way back or by closing, people are asked", async () => {
    await page.goto(`${server.url}/admin`);
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await page.getByRole("button", { name: "New agent" }).click();
    const models = page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name: "Models" });
    await page.getByLabel("Instructions").fill("Answer in verse.");
    await models.click();
    await agree(page, "Cancel");
    await stays("Answer in verse.");
    await page.evaluate("history.back()");
    await agree(page, "Cancel");
    await stays("Answer in verse.");
    const asked = page.waitForEvent("dialog");
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    assert.equal(dialog.type(), "beforeunload");
    await dialog.dismiss();
    await models.click();
    await agree(page, "Discard changes");
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
  });

  test("nobody is asked when nothing was typed, or when it is saved", async () => {
    const models = page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name: "Models" });
    await newAgent();
    await models.click();
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
    const form = await newAgent();
    await form.getByLabel("Name", { exact: true }).fill("poet");
    await form.getByLabel("Instructions").fill("Answer in verse.");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("rowheader", { name: "poet" }).waitFor();
    await models.click();
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor();
  });

  function countOf(path: string, method: string): () => number {
    let count = 0;
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === path && request.method() === method) count++;
    });
    return () => count;
  }
});
