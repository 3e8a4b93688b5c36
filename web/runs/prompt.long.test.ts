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
import { defineTool } from "../../src/tools/core/define-tool.ts";

const lookUp = defineTool({
  name: "look_up",
  description: "Looks something up.",
  input: z.object({ n: z.int() }),
  effect: "read",
  execute: ({ n }) => `found ${n}`,
});
const steps = 30;
const long = `${"Once upon a time. ".repeat(17_000)}The end of it.`;

describe("the prompt of a step", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      ({ messages }, count) => {
        const asked = String(messages.findLast(({ role }) => role === "user")?.content);
        const done = messages.filter(({ role }) => role === "tool").length;
        return asked.startsWith("a lot") && done < steps ? [{ call: "look_up", arguments: { n: count } }] : "enough";
      },
      {},
      { tools: [lookUp], limits: { steps: steps + 10, toolCalls: steps + 10 } },
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

  const begin = async (content: string) => {
    const client = createClient({ url: server.url });
    const thread = await client.createThread();
    const { id } = await client.startRun(thread.id, { agent: "assistant", content });
    for await (const { event } of client.follow(id)) if (event.type === "run-wait") break;
    return id;
  };
  const show = async (content: string, step: number) => {
    const id = await begin(content);
    await page.goto(`${server.url}/runs/${id}?row=${id}/${step}`);
    const prompt = page.getByRole("region", { name: "Prompt" });
    await prompt.waitFor();
    return prompt;
  };

  test("its messages, tools and parameters, and the calls of its answer", async () => {
    const prompt = await show("a lot", 2);
    const roles = prompt.locator("ol.prompt > .prompt-message > p:first-child > span:first-child");
    assert.deepEqual((await roles.allInnerTexts()).slice(-3), ["User", "Assistant", "Tool"]);
    await prompt.getByText("found 0").waitFor();
    await prompt.getByText(/^\d+ tools offered$/).click();
    await prompt.getByText("Looks something up.", { exact: true }).waitFor();
    await prompt.locator("li", { hasText: "Looks something up." }).getByText("Input schema").click();
    await prompt.getByLabel("Input schema: look_up").getByText('"integer"').waitFor();
    await prompt.locator("dl").getByText("script", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Calls" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("of many messages the first and the last, then all", async () => {
    const prompt = await show("a lot more", steps);
    const shown = prompt.locator("ol.prompt > .prompt-message");
    assert.equal(await shown.count(), 8);
    await prompt.getByRole("button", { name: /^Show \d+ more messages$/ }).click();
    assert.ok((await shown.count()) > 2 * (steps - 1));
  });

  test("a text of 300 KB is folded, whole when asked for, and copied whole", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const prompt = await show(long, 1);
    const text = prompt.locator('[data-role="user"] .prompt-text');
    assert.ok((await text.innerText()).length < 700);
    await prompt.getByRole("button", { name: "Show all" }).click();
    await prompt.getByText("The end of it.").waitFor();
    await prompt.getByRole("button", { name: "Show less" }).click();
    assert.ok((await text.innerText()).length < 700);
    await prompt.getByRole("button", { name: "Copy as JSON" }).click();
    await prompt.getByRole("button", { name: "Copied" }).waitFor();
    await untilTrue(
      page,
      "navigator.clipboard.readText().then((text) => JSON.parse(text).messages.at(-1).text.endsWith('The end of it.'))",
    );
    assert.deepEqual(await violationsOf(page), []);
  });

  test("what is written from right to left stands so", async () => {
    const prompt = await show("مرحبا بالعالم", 1);
    await prompt.getByText("مرحبا بالعالم").waitFor();
    await untilTrue(
      page,
      "getComputedStyle(document.querySelector('[data-role=user] .prompt-text')).direction === 'rtl'",
    );
  });
});
