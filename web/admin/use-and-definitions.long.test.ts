import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import { type AdminServing, modelKey as key, serveAdmin } from "../../test/serve-admin.ts";

const findsNothing = async (page: Page, state: string) => assert.deepEqual(await violationsOf(page), [], state);

describe("the administration", { skip: skipBrowser }, () => {
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

  const section = (name: string) =>
    page.getByRole("navigation", { name: "Administration" }).getByRole("link", { name, exact: true });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const rowOf = (id: string) =>
    page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: id, exact: true }) });

  test("today against the usual, over time, and by whom", async () => {
    await page.getByRole("link", { name: "Add an MCP server" }).click();
    await page.getByRole("region", { name: "Add an MCP server" }).waitFor();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Administration" }).click();
    await page.getByText("Requests today").waitFor();
    const today = page.locator("dl").first();
    await today.getByText("usually 10 per day").waitFor();
    await page.getByRole("img", { name: /^Requests\. .*: 12/ }).waitFor();
    await page.getByRole("img", { name: /^First token\. .*p50 200 ms/ }).waitFor();
    await page.getByRole("img", { name: /^Full answer\. .*p50 900 ms/ }).waitFor();
    await page.getByRole("img", { name: /^Cost\. .*: 0\.12/ }).waitFor();
    await page.getByRole("img", { name: /^Errors\. .*: 12/ }).waitFor();
    await row("filed").getByText("200 ms / 200 ms").waitFor();
    await page.getByRole("combobox", { name: "Group by" }).selectOption("Time (UTC)");
    await page.getByRole("combobox", { name: "Period" }).selectOption("7 days");
    await page.waitForURL(/days=7/);
    assert.match(page.url(), /by=time/);
    // Of today nothing is known yet; the table before stays until then.
    await untilTrue(page, `document.querySelectorAll("tbody th").length === 6`);
    await findsNothing(page, "use");
  });

  test("a model is connected: why none is found, which there are, tried, kept, meant by default", async () => {
    await section("Models").click();
    await row("filed").getByText("Filed", { exact: false }).first().waitFor();
    await row("filed").getByRole("button", { name: "View: filed" }).click();
    await page.getByText(/Defined in a file \(.*colloquy.yaml.*Change it there/).waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.getByRole("button", { name: "Connect a model" }).click();
    const connect = page.getByRole("region", { name: "Connect a model" });
    await connect.getByLabel("Address").fill(server.served.url);
    await connect.getByRole("button", { name: "Find models" }).click();
    await connect.getByRole("alert").getByText("needs a valid API key. Correct the key").waitFor();
    await findsNothing(page, "no models");
    await connect.getByLabel("API key (optional)").fill(key);
    await connect.getByRole("button", { name: "Find models" }).click();
    await connect.getByRole("button", { name: "other/model" }).click();
    assert.equal(await connect.getByLabel("Address").count(), 1, "one step after the other");
    await connect.getByRole("button", { name: "Back" }).click();
    await connect.getByRole("button", { name: "other/model" }).click();
    server.served.answer({ text: ["good morning"] });
    await connect.getByRole("button", { name: "Test" }).click();
    await connect.getByText("good morning").waitFor();
    await findsNothing(page, "models found");
    assert.equal(await connect.getByLabel("Name", { exact: true }).inputValue(), "other-model");
    await connect.getByRole("button", { name: "Save" }).click();
    await rowOf("other-model").getByText("available").waitFor();
    await page
      .getByLabel("Default model")
      .locator("option:checked", { hasText: "other-model" })
      .waitFor({ state: "attached" });
    await rowOf("default").getByText("points to other-model").waitFor();
    const choices = page.getByLabel("Default model").locator("option");
    assert.deepEqual(
      (await choices.allTextContents()).filter((text) => text === "default"),
      [],
      "it can't mean itself",
    );
    await page.getByRole("button", { name: "Delete: other-model" }).click();
    await agree(page, "Delete");
    await rowOf("other-model").getByRole("alert").getByText("is needed by the defaults. Change these first.").waitFor();
  });

  test("an agent: what is wrong is said, and what was typed stays", async () => {
    await section("Agents").click();
    await page.getByRole("button", { name: "New agent" }).click();
    const editor = page.getByRole("region", { name: "New agent" });
    await editor.getByLabel("Name", { exact: true }).fill("Poet!");
    const instructions = "Answer in verse. ".repeat(250).trim();
    await editor.getByLabel("Instructions").fill(instructions);
    // Picked of those there are, or typed as it is.
    const tools = editor.getByRole("combobox", { name: "Tools" });
    await tools.fill("current");
    await page.getByRole("option", { name: /^now/ }).click();
    await tools.fill("no_such_tool");
    await page.getByRole("option", { name: /^no_such_tool/ }).click();
    await findsNothing(page, "tools picked");
    await editor.getByRole("button", { name: "Save" }).click();
    await editor.getByRole("alert").getByText("Name: lower-case letters").waitFor();
    assert.equal(await editor.getByLabel("Instructions").inputValue(), instructions);
    await editor.getByLabel("Name", { exact: true }).fill("poet");
    await editor.getByRole("button", { name: "Save" }).click();
    await row("poet").getByText("no_such_tool").waitFor();
    const told = /[\d,]+ tokens at the start[^]*1[0-9]% of its model's 8,192\. Its instructions take 1,[\d]+/;
    await row("poet").filter({ hasText: told }).waitFor();
    await page.getByRole("button", { name: "Edit: poet" }).click();
    const opened = page.getByRole("region", { name: "poet" });
    await opened.filter({ hasText: told }).waitFor();
    await opened.getByRole("button", { name: "Cancel" }).click();
    server.served.answer({ text: ["Roses are red"] });
    await page.getByRole("button", { name: "Test: poet" }).click();
    await page.getByLabel("Message @poet").fill("a verse");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "View conversation" }).waitFor();
    await page.getByRole("button", { name: "Delete: poet" }).click();
    await agree(page, "Delete");
    await row("poet").first().waitFor({ state: "detached" });
  });

  test("an MCP server: added, tried, changed, removed", async () => {
    await section("MCP servers").click();
    await page.getByRole("button", { name: "Add an MCP server" }).click();
    const editor = page.getByRole("region", { name: "Add an MCP server" });
    await editor.getByLabel("Name", { exact: true }).fill("wiki");
    await editor.getByRole("textbox", { name: "Address" }).fill("http://localhost:9/mcp");
    await editor.getByRole("textbox", { name: "Headers" }).fill("authorization: Bearer 123");
    await editor.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Connect: wiki" }).click();
    await page.getByText("can't be reached").first().waitFor();
    await row("wiki").first().getByRole("button", { name: "Edit: wiki" }).click();
    const kept = page.getByRole("region", { name: "wiki" });
    assert.equal(await kept.getByLabel("Headers").inputValue(), "authorization: ***");
    await kept.getByLabel("Description").fill("What we know");
    await kept.getByRole("button", { name: "Save" }).click();
    await kept.waitFor({ state: "detached" });
    await findsNothing(page, "MCP servers");
    await page.getByRole("button", { name: "Delete: wiki" }).click();
    await agree(page, "Delete");
    await row("wiki").first().waitFor({ state: "detached" });
  });

  test("an MCP server that takes its time is followed until it answers", async (context) => {
    const held = Promise.withResolvers<void>();
    const slow = createServer((_request, response) => void held.promise.then(() => response.writeHead(500).end()));
    slow.listen(0, "127.0.0.1");
    await once(slow, "listening");
    context.after(() => slow.close());
    await page.getByRole("button", { name: "Add an MCP server" }).click();
    const editor = page.getByRole("region", { name: "Add an MCP server" });
    await editor.getByLabel("Name", { exact: true }).fill("slow");
    const { port } = slow.address() as AddressInfo;
    await editor.getByRole("textbox", { name: "Address" }).fill(`http://127.0.0.1:${port}/mcp`);
    await editor.getByRole("button", { name: "Save" }).click();
    await row("slow").first().getByText("connecting").waitFor();
    held.resolve();
    await row("slow").first().getByText("failed").waitFor();
    await page.getByRole("button", { name: "Delete: slow" }).click();
    await agree(page, "Delete");
    await row("slow").first().waitFor({ state: "detached" });
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
    assert.equal(names.length, 12);
    for (const name of names) {
      await links.getByText(name, { exact: true }).click();
      await phone.getByRole("heading", { name, exact: true }).waitFor();
      assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360, name);
    }
    await findsNothing(phone, "phone");
    await phone.close();
  });

  test("asks nothing of other hosts, and complains of nothing but what was refused", () => {
    const refused = /^Failed to load resource: the server responded with a status of 4(00|09|22)/;
    assert.deepEqual(
      browser.complaints().filter((text) => !refused.test(text)),
      [],
    );
  });
});
