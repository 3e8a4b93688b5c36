import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { type AdminServing, serveAdmin } from "../../test/serve-admin.ts";

const findsNothing = async (page: Page, state: string) => assert.deepEqual(await violationsOf(page), [], state);

describe("the administration, all else", { skip: skipBrowser }, () => {
  let server: AdminServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await serveAdmin();
    browser = await openBrowser();
    page = await browser.open(`${server.url}/admin`, { viewport: { width: 1280, height: 850 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const section = (name: string) =>
    page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name, exact: true });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });

  const more = async (person: string, deed: string) => {
    await page.getByRole("button", { name: `More: ${person}` }).click();
    await page.getByRole("menuitem", { name: deed }).click();
  };

  test("people: made, invited, disabled, in a group, with a budget, erased", async () => {
    await section("People").click();
    const make = page.getByRole("form", { name: "Create account" });
    await make.getByLabel("Name").fill("ada");
    await make.getByRole("button", { name: "Create account" }).click();
    await page.getByText(/^ck_/).waitFor();
    await more("ada", "Disable");
    await row("ada").getByText("disabled").waitFor();
    await more("ada", "Enable");
    await row("ada").getByText("active").waitFor();
    await findsNothing(page, "people");
    await more("ada", "Keys…");
    const keys = page.getByRole("region", { name: "API keys of ada" }).first();
    await keys.getByLabel("Label").fill("her laptop");
    await keys.getByRole("button", { name: "New key" }).click();
    await keys
      .getByRole("row", { name: /her laptop/ })
      .getByText("valid")
      .waitFor();
    await keys.getByRole("button", { name: "Revoke: her laptop" }).click();
    await keys
      .getByRole("row", { name: /her laptop/ })
      .getByText("revoked ")
      .waitFor();
    await findsNothing(page, "keys");
    await keys.getByRole("button", { name: "Close" }).click();

    await section("Groups").click();
    await page.getByLabel("Name").fill("writers");
    await page.getByRole("button", { name: "Create group" }).click();
    const group = page.getByRole("region", { name: "writers" });
    await group.getByRole("textbox").fill("agent:*\nmodel:filed");
    await group.getByRole("button", { name: "Save" }).click();
    await row("writers").getByText("agent:*, model:filed").waitFor();
    await group.getByRole("combobox", { name: "Name" }).selectOption("ada");
    await group.getByRole("button", { name: "Add to group" }).click();
    await group.getByRole("button", { name: "Remove: ada" }).waitFor();
    await findsNothing(page, "groups");
    const deletion = page.getByRole("button", { name: "Delete: writers" });
    await deletion.click();
    await page.getByRole("alertdialog", { name: "Delete the group writers?" }).waitFor();
    await page.keyboard.press("Escape");
    await deletion.and(page.locator(":focus")).press("Enter");
    await agree(page, "Delete");
    await deletion.waitFor({ state: "detached" });

    await section("Budgets").click();
    await page.getByRole("combobox", { name: "Applies to" }).selectOption("ada");
    await page.getByLabel("Tokens").fill("1000");
    await page.getByRole("button", { name: "Set budget" }).click();
    await row("ada").getByText("0 of 1,000 tokens").waitFor();
    await row("ada").getByText("within budget").waitFor();
    await findsNothing(page, "budgets");

    await section("People").click();
    await more("ada", "Erase…");
    const erase = page.getByRole("region", { name: "Erase ada" });
    await erase.getByLabel("Type the account name").fill("adam");
    await erase.getByRole("button", { name: "Erase permanently" }).click();
    await erase.getByRole("alert").waitFor();
    await findsNothing(page, "erase");
    await erase.getByLabel("Type the account name").fill("ada");
    await erase.getByRole("button", { name: "Erase permanently" }).click();
    await row("ada").waitFor({ state: "detached" });
    await page.getByText(/: erased \d/).waitFor({ state: "attached" });
  });

  test("everybody's runs: found, stopped, run again", async () => {
    const { client } = server;
    const thread = await client.createThread({ agent: "assistant" });
    server.served.answer({ text: ["a beginning"], fault: "hang" });
    const { id } = await client.startRun(thread.id, { agent: "assistant", content: "for ever" });
    await server.served.until(() => server.served.requests.length > 0);
    await section("Runs").click();
    await page.getByRole("combobox", { name: "State" }).selectOption("running");
    await row("@assistant").getByText("running").waitFor();
    assert.match(page.url(), /status=running/);
    await page.getByRole("button", { name: "Stop: owner, @assistant" }).click();
    // Until its end.
    for await (const _ of client.follow(id));
    await page.getByRole("combobox", { name: "State" }).selectOption("stopped");
    await row("@assistant").getByText("stopped").waitFor();
    await findsNothing(page, "runs");
    server.served.answer({ text: ["done now"] });
    await page.getByRole("button", { name: "Rerun as new: owner, @assistant" }).click();
    await page.getByRole("combobox", { name: "State" }).selectOption("all");
    await row("@assistant").nth(1).waitFor();
  });

  test("how long things are kept, what happened, what is set, what is wrong", async () => {
    await section("Retention").click();
    await row("Audit log").getByText("change it there").waitFor();
    await page.getByLabel("Days to keep: Conversations", { exact: true }).fill("365");
    await page.getByRole("button", { name: "Preview: Conversations", exact: true }).click();
    await row("with their runs and files").getByText("would be deleted now: 0").waitFor();
    await page.getByRole("button", { name: "Save: Conversations", exact: true }).click();
    await row("with their runs and files").getByText("an admin").waitFor();
    await findsNothing(page, "retention");
    await page.getByRole("button", { name: "Delete now" }).click();
    await agree(page, "Delete now");
    await page.getByRole("status").filter({ hasText: "Conversations: 0" }).waitFor();

    await section("Audit log").click();
    await row("PUT /api/admin/retention/threads").getByText("done (200)").waitFor();
    await page.getByLabel("Person").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No entries").waitFor();
    assert.match(page.url(), /user=nobody/);

    await section("Settings").click();
    await page.getByLabel("Search", { exact: true }).fill("retention.audit");
    await row("retention.audit").filter({ hasText: "400 days" }).getByText("colloquy.yaml:").waitFor();
    await findsNothing(page, "settings");

    await section("Doctor").click();
    await page.getByRole("table").waitFor();
    await findsNothing(page, "doctor");
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    const refused = /^Failed to load resource: the server responded with a status of 4(00|22)/;
    assert.deepEqual(
      browser.complaints().filter((text) => !refused.test(text)),
      [],
    );
  });
});
