import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { z } from "zod";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { createClient } from "../../src/client/client.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";

const lookUp = defineTool({
  name: "look_up",
  description: "Looks something up.",
  input: z.object({ n: z.int() }),
  effect: "read",
  execute: ({ n }) => `found ${n}`,
});
const manySteps = 500;
const long = (end: string) => `${"Once upon a time.\n".repeat(17_000)}${end}`;

describe("two runs beside each other", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      ({ messages }) => {
        const asked = String(messages.findLast(({ role }) => role === "user")?.content);
        const done = messages.filter(({ role }) => role === "tool").length;
        const calls = asked.startsWith("many") ? manySteps : Number(/(\d+) calls/.exec(asked)?.[1] ?? 0);
        if (asked === "wait") return [{ text: "one moment" }, { gate: () => new Promise(() => undefined) }];
        if (asked === "fail") return [{ error: "refused", message: "not with me" }];
        return done < calls ? [{ call: "look_up", arguments: { n: done } }] : `The answer to ${asked.slice(-40)}`;
      },
      {},
      { tools: [lookUp], limits: { steps: manySteps + 10, toolCalls: manySteps + 10 } },
    );
    browser = await openBrowser();
    page = await browser.open(`${server.url}/runs`, {
      viewport: { width: 1440, height: 900 },
      serviceWorkers: "block",
    });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const client = () => createClient({ url: server.url });
  const begin = async (content: string, threadId?: string) => {
    const thread = threadId ?? (await client().createThread()).id;
    const { id } = await client().startRun(thread, { agent: "assistant", content });
    for await (const { event } of client().follow(id)) if (event.type === "run-wait") break;
    return id;
  };
  const compare = async (one: string, other: string) => {
    await page.goto(`${server.url}/runs/${one}?with=${other}`);
    await page.getByRole("heading", { name: "Compare two runs" }).waitFor();
  };
  const figure = (name: string) => page.getByRole("region", { name: "Figures" }).getByRole("row", { name });
  const texts = (name: string) => page.getByRole("region", { name, exact: true });

  test("what differs is marked and said in words; what is the same is told so", async () => {
    const one = await begin("tell me with 2 calls please");
    const other = await begin("tell me with 1 calls please");
    await compare(one, other);
    await figure("Calls").getByText("1 more in this run").waitFor();
    await figure("Model").getByText("the same").waitFor();
    await texts("First prompt").locator("del").getByText("2", { exact: true }).waitFor();
    await texts("First prompt").locator("ins").getByText("1", { exact: true }).waitFor();
    await texts("Final answer").getByText("1 difference, marked").waitFor({ state: "detached" });
    const rows = page.getByRole("region", { name: "Steps and calls" }).getByRole("row");
    assert.deepEqual(
      (await rows.getByRole("cell").allInnerTexts()).filter((_, at) => at % 3 === 2),
      ["–", "the same", "only in this run", "only in this run", "different answer"],
    );
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole("link", { name: "Back to the run" }).click();
    await page.getByRole("treegrid").waitFor();
  });

  test("from the run page: of its conversation, of its agent", async () => {
    const thread = (await client().createThread()).id;
    const before = await begin("hello there", thread);
    const now = await begin("hello again", thread);
    await page.goto(`${server.url}/runs/${now}`);
    await page.getByRole("button", { name: "Compare with …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("region", { name: "Other runs of @assistant" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await dialog
      .getByRole("region", { name: "In this conversation" })
      .getByRole("button", { name: "hello there" })
      .click();
    await texts("First prompt").locator("del").getByText("again").waitFor();
    assert.ok(page.url().endsWith(`/runs/${now}?with=${before}`));
  });

  test("two of the list, by keyboard; Esc lets go of them", async () => {
    await begin("first of two");
    await begin("second of two");
    await page.goto(`${server.url}/runs`);
    await page.getByRole("checkbox", { name: "Select to compare: first of two" }).press("Space");
    await page.getByText("Select another to compare them").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Select another to compare them").waitFor({ state: "detached" });
    await page.getByRole("checkbox", { name: "Select to compare: first of two" }).press("Space");
    await page.getByRole("checkbox", { name: "Select to compare: second of two" }).press("Space");
    await page.getByRole("link", { name: "Compare the selected runs" }).press("Enter");
    await texts("First prompt").locator("del").getByText("second").waitFor();
  });

  test("a run that failed, one that was cancelled, one in Arabic", async () => {
    const failed = await begin("fail");
    const arabic = await begin("مرحبا بالعالم");
    await compare(failed, arabic);
    await figure("State").getByText("failed").waitFor();
    await figure("State").getByText("different").waitFor();
    await texts("First prompt").locator("ins").getByText("مرحبا بالعالم").waitFor();
    await texts("Final answer").getByText("nothing").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const thread = await client().createThread();
    const { id } = await client().startRun(thread.id, { agent: "assistant", content: "wait" });
    await client().cancel(id);
    await compare(id, failed);
    await figure("State").getByText("stopped").waitFor();
    await page.getByRole("region", { name: "Steps and calls" }).waitFor();
  });

  test("prompts of 300 KB: what differs at their end is found, what is the same is left out", async () => {
    await compare(await begin(long("The hero lives.")), await begin(long("The hero dies.")));
    await texts("First prompt").locator("del").getByText("The hero lives.").waitFor();
    await texts("First prompt").locator("ins").getByText("The hero dies.").waitFor();
    assert.ok((await texts("First prompt").innerText()).length < 10_000);
  });

  test("500 steps stand beside two", async () => {
    const many = await begin("many");
    await compare(many, await begin("with 2 calls"));
    await page.getByText("Showing only the latest part.").waitFor({ state: "detached" });
    await figure("Steps").getByText("498 more in this run").waitFor();
    await untilTrue(page, "document.querySelectorAll('tbody tr').length > 1000");
  });

  test("the same run, a nonsense id, and one that is not there: said, with others to choose from", async () => {
    const one = await begin("alone");
    await compare(one, one);
    await page.getByText("This is the same run.").waitFor();
    await page.getByRole("region", { name: "Other runs of @assistant" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await compare(one, "nonsense");
    await page.getByRole("alert").waitFor();
    await page.getByRole("region", { name: "Other runs of @assistant" }).waitFor();
    // What somebody else's is answered with, to whoever is no admin.
    await compare(one, newId());
    await page
      .getByRole("alert")
      .getByText(/not found/)
      .waitFor();
    await page.getByRole("region", { name: "Other runs of @assistant" }).getByRole("button").first().click();
    await texts("First prompt").waitFor();
  });
});
