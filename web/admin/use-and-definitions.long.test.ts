import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { agree, type OpenBrowser, openBrowser, skipBrowser, untilTrue, violationsOf } from "../../test/browser.ts";
import { until } from "../../test/run-suite.ts";
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
    await today.getByText("usually €0.10 per day").waitFor();
    await row("filed").getByText("200 ms / 200 ms").waitFor();
    await page.getByRole("combobox", { name: "Group by" }).selectOption("Time (UTC)");
    await page.getByRole("combobox", { name: "Period" }).selectOption("7 days");
    await page.waitForURL(/days=7/);
    assert.match(page.url(), /by=time/);
    // Of today nothing is known yet; the table before stays until then.
    await untilTrue(page, `document.querySelectorAll("tbody th").length === 6`);
    await findsNothing(page, "use");
  });

  test("charts: each time by keyboard, by mouse and in a table, the last marked as not over", async () => {
    const chart = (name: string) => page.getByRole("slider", { name, exact: true });
    const said = (name: string) => chart(name).getAttribute("aria-valuetext");
    await page.getByRole("combobox", { name: "Period" }).selectOption("30 days");
    await page.waitForURL(/days=30/);
    await untilTrue(page, `document.querySelector("[role=slider]")?.ariaValueMax === "29"`);
    assert.match((await said("Requests"))!, / so far: 0$/);
    await chart("Requests").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await chart("Requests").getAttribute("aria-valuenow"), "0");
    await page.keyboard.press("End");
    for (let day = 0; day < 5; day++) await page.keyboard.press("ArrowLeft");
    assert.match((await said("Requests"))!, /^\d+ [A-Z][a-z]+: 12$/);
    for (const [name, text] of [
      ["Cost", / €0\.12$/],
      ["Errors", / 12$/],
      ["First token", / Median 200 ms, 95th percentile 200 ms$/],
      ["Full answer", / Median 900 ms, 95th percentile 900 ms$/],
    ] as const) {
      await chart(name).focus();
      for (let day = 0; day < 5; day++) await page.keyboard.press("ArrowLeft");
      assert.match((await said(name))!, text);
    }
    const { x, y, width } = (await chart("Requests").boundingBox())!;
    await page.mouse.move(x + width * 0.6, y + 60);
    await untilTrue(page, `/: 10$/.test(document.querySelector("[role=slider]").ariaValueText)`);
    await page.mouse.move(0, 0);
    const figure = page.locator("figure").filter({ has: chart("First token") });
    await figure.getByText("Show as table").click();
    const rows = figure.getByRole("row");
    await rows.first().waitFor();
    assert.deepEqual(await rows.first().getByRole("columnheader").allTextContents(), [
      "Time (UTC)",
      "Median",
      "95th percentile",
    ]);
    assert.match(await rows.last().innerText(), /so far\s+–\s+–$/);
    assert.match(await rows.nth(-2).innerText(), /200 ms\s+200 ms$/);
    await findsNothing(page, "charts");
  });

  test("charts: drawn anew in other colours, and as wide as there is room", async () => {
    const drawn = () => page.evaluate<string>(`document.querySelector(".chart-plot canvas").toDataURL()`);
    const isNew = (before: string) => until(async () => (await drawn()) !== before, "drawn anew");
    const light = await drawn();
    await page.emulateMedia({ colorScheme: "dark" });
    await isNew(light);
    const dark = await drawn();
    await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
    await isNew(dark);
    assert.notEqual(await drawn(), light);
    await page.emulateMedia({ forcedColors: "none" });
    const usual = page.viewportSize()!;
    await page.setViewportSize({ width: 320, height: 700 });
    await untilTrue(page, `document.querySelector(".chart-plot canvas").clientWidth < 300`);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
    await page.setViewportSize(usual);
    await page.getByRole("combobox", { name: "Period" }).selectOption("24 hours");
    await page.getByText("Nothing in this period").first().waitFor();
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
    await editor.getByRole("alert").getByText("lower-case letters").waitFor();
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
