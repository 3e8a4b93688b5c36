import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { loadConfig } from "../../src/config.ts";
import { type Colloquy, startColloquy } from "../../src/main.ts";
import { newId } from "../../src/protocol/ids.ts";
import { silentLog } from "../../src/protocol/log.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { type ModelServer, startModelServer } from "../../test/model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "../../test/pglite.ts";

const key = "sk-very-secret-key";
const dayMs = 24 * 60 * 60_000;

const findsNothing = async (page: Page, state: string) => assert.deepEqual(await violationsOf(page), [], state);

describe("the administration", { skip: skipBrowser }, () => {
  let served: ModelServer;
  let server: Colloquy;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    buildPage();
    served = await startModelServer({ key, models: ["served", "other/model"] });
    const cwd = temporaryFolder("admin");
    writeFileSync(
      join(cwd, "colloquy.yaml"),
      `models:\n  - { id: filed, provider: openai, baseUrl: "${served.url}/v1", model: served, apiKey: ${key} }\n` +
        "mcpServers:\n  mcp_filesystem: { disabled: true }\n  mcp_trader: { disabled: true }\n" +
        "retention: { auditDays: 400 }\n",
    );
    const env = {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_DATA: await freshDataDirectory(),
      COLLOQUY_SECRET: "a secret of these tests",
      COLLOQUY_PROBE: "false",
      COLLOQUY_PORT: "0",
    };
    server = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
    await useModels(server);
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 1280, height: 850 } });
  });
  after(async () => {
    await browser.close();
    await server.stop();
    await served.close();
  });

  const section = (name: string) => page.getByRole("navigation", { name: "Administration" }).getByText(name);
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });

  test("today against the usual, over time, and by whom", async () => {
    await page.getByRole("link", { name: "Administration" }).click();
    await page.getByText("Requests today").waitFor();
    const today = page.locator("dl").first();
    await today.getByText("usually 10 a day").waitFor();
    assert.equal(await page.getByRole("img", { name: /^Requests\. .*: 12/ }).count(), 1);
    assert.equal(await page.getByRole("img", { name: /^To the first token\. .*half within 200 ms/ }).count(), 1);
    await row("filed").getByText("200 ms / 200 ms").waitFor();
    await page.getByRole("combobox", { name: "By" }).selectOption("Time (UTC)");
    await page.getByRole("combobox", { name: "Over" }).selectOption("7 days");
    await page.waitForURL(/days=7/);
    assert.match(page.url(), /by=time/);
    // Of today nothing is known yet.
    await page.getByRole("rowheader").nth(6).waitFor({ state: "detached" });
    assert.equal(await page.getByRole("rowheader").count(), 6);
    await findsNothing(page, "use");
  });

  test("a model is connected: why none is found, which there are, tried, kept, meant by default", async () => {
    await section("Models").click();
    await row("filed").getByText("Filed", { exact: false }).first().waitFor();
    await row("filed").getByRole("button", { name: "Look: filed" }).click();
    await page.getByText(/Defined in a file \(.*colloquy.yaml.*to be changed there/).waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.getByRole("button", { name: "Connect a model" }).click();
    const connect = page.getByRole("region", { name: "Connect a model" });
    await connect.getByLabel("Address").fill(served.url);
    await connect.getByRole("button", { name: "Look for models" }).click();
    await connect.getByRole("alert").getByText("wants a key").first().waitFor();
    await findsNothing(page, "no models");
    await connect.getByLabel("Key (may be empty)").fill(key);
    await connect.getByRole("button", { name: "Look for models" }).click();
    await connect.getByRole("button", { name: "other/model" }).click();
    served.answer({ text: ["good morning"] });
    await connect.getByRole("button", { name: "Try it" }).click();
    await connect.getByText("good morning").waitFor();
    await findsNothing(page, "models found");
    assert.equal(await connect.getByLabel("Name", { exact: true }).inputValue(), "other-model");
    await connect.getByRole("button", { name: "Keep" }).click();
    await row("other-model").getByText("available").waitFor();
    await page
      .getByLabel("The model called “default”")
      .locator("option:checked", { hasText: "filed" })
      .waitFor({ state: "attached" });
  });

  test("an agent: what is wrong is said, and what was typed stays", async () => {
    await section("Agents").click();
    await page.getByRole("button", { name: "New agent" }).click();
    const editor = page.getByRole("region", { name: "New agent" });
    await editor.getByLabel("Name", { exact: true }).fill("Poet!");
    await editor.getByLabel("Instructions").fill("Answer in verse.");
    await editor.getByRole("textbox", { name: "Tools" }).fill("now\nno_such_tool");
    await editor.getByRole("button", { name: "Keep" }).click();
    await editor.getByRole("alert").getByText("lower-case letters").waitFor();
    assert.equal(await editor.getByLabel("Instructions").inputValue(), "Answer in verse.");
    await editor.getByLabel("Name", { exact: true }).fill("poet");
    await editor.getByRole("button", { name: "Keep" }).click();
    await row("poet").getByText("no_such_tool").waitFor();
    served.answer({ text: ["Roses are red"] });
    await page.getByRole("button", { name: "Try: poet" }).click();
    await page.getByLabel("Message to @poet").fill("a verse");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "See what it does" }).waitFor();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Delete: poet" }).click();
    await row("poet").first().waitFor({ state: "detached" });
  });

  test("an MCP server: added, tried, changed, removed", async () => {
    await section("MCP servers").click();
    await page.getByRole("button", { name: "Add an MCP server" }).click();
    const editor = page.getByRole("region", { name: "Add an MCP server" });
    await editor.getByLabel("Name", { exact: true }).fill("wiki");
    await editor.getByRole("textbox", { name: "Address" }).fill("http://localhost:9/mcp");
    await editor.getByRole("textbox", { name: "Headers" }).fill("authorization: Bearer 123");
    await editor.getByRole("button", { name: "Keep" }).click();
    await page.getByRole("button", { name: "Connect: wiki" }).click();
    await page.getByText("can't be reached").first().waitFor();
    await row("wiki").first().getByRole("button", { name: "Edit: wiki" }).click();
    const kept = page.getByRole("region", { name: "wiki" });
    assert.equal(await kept.getByLabel("Headers").inputValue(), "authorization: ***");
    await kept.getByLabel("Description").fill("What we know");
    await kept.getByRole("button", { name: "Keep" }).click();
    await kept.waitFor({ state: "detached" });
    await findsNothing(page, "MCP servers");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Delete: wiki" }).click();
    await row("wiki").first().waitFor({ state: "detached" });
  });

  test("people: made, invited, disabled, in a group, with a budget, erased", async () => {
    await section("People").click();
    const make = page.getByRole("form", { name: "Make an account" });
    await make.getByLabel("Name").fill("ada");
    await make.getByRole("button", { name: "Make an account" }).click();
    await page.getByText(/^ck_/).waitFor();
    await page.getByRole("button", { name: "Disable: ada" }).click();
    await row("ada").getByText("disabled").waitFor();
    await page.getByRole("button", { name: "Enable: ada" }).click();
    await row("ada").getByText("active").waitFor();
    await findsNothing(page, "people");

    await section("Groups").click();
    await page.getByLabel("Name").fill("writers");
    await page.getByRole("button", { name: "Make a group" }).click();
    const group = page.getByRole("region", { name: "writers" });
    await group.getByRole("textbox").fill("agent:*\nmodel:filed");
    await group.getByRole("button", { name: "Keep" }).click();
    await row("writers").getByText("agent:*, model:filed").waitFor();
    await group.getByRole("combobox", { name: "Name" }).selectOption("ada");
    await group.getByRole("button", { name: "Put into the group" }).click();
    await group.getByRole("button", { name: "Take out: ada" }).waitFor();
    await findsNothing(page, "groups");

    await section("Budgets").click();
    await page.getByRole("combobox", { name: "Whose" }).selectOption("ada");
    await page.getByLabel("Tokens").fill("1000");
    await page.getByRole("button", { name: "Set the budget" }).click();
    await row("ada").getByText("0 of 1,000 tokens").waitFor();
    await row("ada").getByText("within it").waitFor();
    await findsNothing(page, "budgets");

    await section("People").click();
    await page.getByRole("button", { name: "Erase …: ada" }).click();
    const erase = page.getByRole("region", { name: "Erase ada" });
    await erase.getByLabel("Type the name").fill("adam");
    await erase.getByRole("button", { name: "Erase for ever" }).click();
    await erase.getByRole("alert").waitFor();
    await findsNothing(page, "erase");
    await erase.getByLabel("Type the name").fill("ada");
    await erase.getByRole("button", { name: "Erase for ever" }).click();
    await row("ada").waitFor({ state: "detached" });
    await page.getByText("erased at").waitFor({ state: "attached" });
  });

  test("how long things are kept, what happened, what is set, what is wrong", async () => {
    await section("Retention").click();
    await row("audit").getByText("to be changed there").waitFor();
    await page.getByLabel("Days that threads are kept").fill("365");
    await page.getByRole("button", { name: "What would go?: threads" }).click();
    await row("threads").getByText("would go now: 0").waitFor();
    await page.getByRole("button", { name: "Keep so long: threads" }).click();
    await row("threads").getByText("an admin").waitFor();
    await findsNothing(page, "retention");

    await section("Audit log").click();
    await row("PUT /api/admin/retention/threads").getByText("done (200)").waitFor();
    await page.getByLabel("Person").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is written here.").waitFor();
    assert.match(page.url(), /user=nobody/);

    await section("Settings").click();
    await page.getByLabel("Search", { exact: true }).fill("retention.audit");
    await row("retention.audit").getByText("colloquy.yaml:").waitFor();
    await findsNothing(page, "settings");

    await section("Doctor").click();
    await page.getByRole("table").waitFor();
    await findsNothing(page, "doctor");
  });

  test("on a phone, in the dark, in German nothing sticks out", async () => {
    const phone = await browser.open(`${server.url}/admin`, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      locale: "de-DE",
      hasTouch: true,
    });
    await phone.getByText("Anfragen heute").waitFor();
    const links = phone.getByRole("navigation", { name: "Verwaltung" }).getByRole("link");
    const names = await links.allTextContents();
    assert.equal(names.length, 11);
    for (const name of names) {
      await links.getByText(name, { exact: true }).click();
      await phone.getByRole("heading", { name, exact: true }).waitFor();
      assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360, name);
    }
    await findsNothing(phone, "phone");
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    const refused = /^Failed to load resource: the server responded with a status of 4(00|22)/;
    assert.deepEqual(
      browser.complaints().filter((text) => !refused.test(text)),
      [],
    );
  });
});

/** Ten requests a day before today, of the model `filed`; twelve on one of them, eight on another. */
async function useModels({ database }: Colloquy): Promise<void> {
  const now = Date.now();
  for (let day = 1; day <= 20; day++)
    await database.query(
      `insert into model_calls
         (id, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, error)
       select unnest($1::uuid[]), 'filed', 'filed', 'openai', $2, 200, 900, 1000, 100, 0.01, $3`,
      [
        Array.from({ length: 10 + (day === 5 ? 2 : day === 9 ? -2 : 0) }, () => newId()),
        new Date(now - day * dayMs),
        day === 5 ? "it failed" : null,
      ],
    );
}
