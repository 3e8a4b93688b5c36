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
import { createClient } from "../../src/client/client.ts";
import { agentSchema } from "../../src/protocol/agents/agents.ts";
import { connectMcp } from "../../test/mcp-client.ts";
import { createTaskClient } from "../../src/client/tasks.ts";

const todo = agentSchema.parse({ id: "todo", model: "default", tools: ["*_task", "*_tasks"], instructions: "Tasks." });
/** A folder for a picture of each state, to look at. */
const shots = process.env["COLLOQUY_TEST_SHOTS"];

describe("the tasks", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => "It is on your list.", {}, { agents: [todo] });
    browser = await openBrowser();
    page = await browser.open(`${server.url}/tasks`, { viewport: { width: 1200, height: 800 } });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const row = (title: string) => page.getByRole("listitem").filter({ hasText: title });
  const looksRight = async (state: string, shown = page) => {
    assert.deepEqual(await violationsOf(shown), [], state);
    if (shots) await shown.screenshot({ path: `${shots}/tasks-${state.replaceAll(" ", "-")}.png` });
  };

  test("are added by a line and Enter", async () => {
    await page.getByText("No tasks yet.").waitFor();
    await looksRight("empty");
    const add = page.getByRole("textbox", { name: "Add a task" });
    for (const title of ["Buy milk", "Write to Ann", "Water the plants"]) {
      await add.fill(title);
      await add.press("Enter");
      await row(title).waitFor();
      await page.locator("input[aria-label='Add a task'][value='']").waitFor();
    }
    await page.getByRole("link", { name: "All 3" }).waitFor();
  });

  test("what is typed while one is being added is the next one", async () => {
    const held = Promise.withResolvers<void>();
    await page.route("**/api/tasks", async (route) => {
      if (route.request().method() === "POST") await held.promise;
      await route.continue();
    });
    const add = page.getByRole("textbox", { name: "Add a task" });
    await add.fill("Call Ben");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await add.press("Enter");
    await sent;
    await add.press("Enter");
    await add.fill("Sharpen the knives");
    held.resolve();
    await row("Call Ben").waitFor();
    await add.press("Enter");
    await row("Sharpen the knives").waitFor();
    await page.unroute("**/api/tasks");
    for (const title of ["Call Ben", "Sharpen the knives"])
      await page.getByRole("button", { name: `Delete: ${title}` }).click();
    await page.getByRole("link", { name: "All 3" }).waitFor();
    await page.reload();
  });

  test("are completed, and filtered in the address", async () => {
    await page.getByRole("checkbox", { name: "Done: Buy milk" }).check();
    await page.getByRole("link", { name: "Done 1" }).click();
    await page.waitForURL("**/tasks?status=completed");
    await row("Buy milk").waitFor();
    assert.equal(await page.getByRole("list", { name: "Your tasks" }).getByRole("listitem").count(), 1);
    await page.reload();
    await row("Buy milk").waitFor();
    await looksRight("completed");
    await page.getByRole("link", { name: "Open 2" }).click();
    await row("Write to Ann").waitFor();
    assert.equal(await row("Buy milk").count(), 0);
    await page.getByRole("link", { name: "All 3" }).click();
  });

  test("are changed in place, by keys alone", async () => {
    await page.getByRole("checkbox", { name: "Done: Water the plants" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "Task", exact: true }).fill("Write to Anna");
    await page.getByRole("textbox", { name: "Description" }).fill("About the plan\nand the date");
    await looksRight("edited");
    await page.keyboard.press("Control+Enter");
    await row("Write to Anna").getByText("About the plan").waitFor();
    await page.locator("input[aria-label='Done: Write to Anna']:focus").waitFor();
    await page.keyboard.press("F2");
    await page.keyboard.type("not kept");
    await page.keyboard.press("Escape");
    await page.locator("input[aria-label='Done: Write to Anna']:focus").waitFor();
  });

  test("are deleted, and put back", async () => {
    await page.getByRole("button", { name: "Delete: Buy milk" }).click();
    await page.getByText("Deleted: Buy milk").waitFor();
    await page.getByRole("link", { name: "All 2" }).waitFor();
    await looksRight("deleted");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("checkbox", { name: "Done: Buy milk" }).waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "Done: Buy milk" }).isChecked(), true);
    await page.getByText("Deleted:").waitFor({ state: "detached" });
  });

  test("one on a list that a program named says whose it is, and is put back there", async () => {
    const program = await connectMcp(`${server.url}/mcp/todo`, { era: "2026-07-28" });
    await program.callTool({ name: "add_task", arguments: { user_id: "user123", title: "Grind the samples" } });
    await program.close();
    await row("Grind the samples").getByText("List of user123").waitFor();
    assert.equal(await row("Buy milk").getByText("List of").count(), 0);
    await looksRight("lists");
    await page.getByRole("button", { name: "Delete: Grind the samples" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await row("Grind the samples").getByText("List of user123").waitFor();
    await page.getByRole("button", { name: "Delete: Grind the samples" }).click();
    await page.reload();
  });

  test("what an agent does shows at once, and what another tab does", async () => {
    await createClient({ url: server.url }).callTool("add_task", { arguments: { title: "From an agent" } });
    await row("From an agent").waitFor();
    const other = await browser.open(`${server.url}/tasks`);
    await other.getByRole("button", { name: "Delete: From an agent" }).click();
    await row("From an agent").waitFor({ state: "detached" });
    await other.context().close();
  });

  test("a failure stands where it happened, and what was typed stays", async () => {
    await page.route("**/api/tasks", (route) => route.abort());
    const add = page.getByRole("textbox", { name: "Add a task" });
    await add.fill("Kept");
    await add.press("Enter");
    await page.getByRole("alert").first().waitFor();
    assert.equal(await add.inputValue(), "Kept");
    await looksRight("failed");
    await page.unroute("**/api/tasks");
    await add.press("Enter");
    await row("Kept").waitFor();
  });

  test("one that could not be deleted is there again, with the reason", async () => {
    await page.route(/\/api\/tasks\/\d+$/, (route) => route.abort());
    await page.getByRole("button", { name: "Delete: Kept" }).click();
    await row("Kept").getByRole("alert").waitFor();
    await page.getByRole("checkbox", { name: "Done: Kept" }).waitFor();
    await page.unroute(/\/api\/tasks\/\d+$/);
  });

  test("lead to the assistant", async () => {
    await page.getByRole("link", { name: "Ask the assistant" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("add a task to buy bread");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("It is on your list.").waitFor();
    assert.equal((await createClient({ url: server.url }).runs())[0]?.agent, "todo");
    await page.goto(`${server.url}/tasks`);
    await row("Kept").waitFor();
  });

  test("very many come in pages, on a phone in the dark", async () => {
    await server.database.query(
      "insert into tasks (user_id, title, description) select $1, 'task ' || n, repeat('long ', 40) from generate_series(1, 230) n",
      [server.caller.userId],
    );
    const phone = await browser.open(`${server.url}/tasks?status=pending`, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      hasTouch: true,
      isMobile: true,
    });
    const shown = phone.getByRole("list", { name: "Your tasks" }).getByRole("listitem");
    await shown.first().waitFor();
    assert.equal(await shown.count(), 100);
    await looksRight("phone", phone);
    assert.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    for (const many of [200, 233]) {
      await phone.getByRole("button", { name: "Show more" }).click();
      await shown.nth(many - 1).waitFor();
      assert.equal(await shown.count(), many);
    }
    assert.equal(await phone.getByRole("button", { name: "Show more" }).count(), 0);
    const { counts } = await createTaskClient({ url: server.url }).list({ limit: 1 });
    assert.deepEqual(counts, { pending: 233, completed: 1 });
  });

  test("nothing was complained of", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !text.includes("ERR_FAILED")),
      [],
    );
  });
});
