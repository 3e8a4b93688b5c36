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
import { until } from "../../test/run-suite.ts";
import { createClient } from "../../src/client/client.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { letterTool } from "../../test/letters.ts";

const silent = letterTool();
const look = defineTool({
  name: "look_up",
  description: "Looks something up.",
  input: z.object({ n: z.int() }),
  effect: "read",
  execute: ({ n }) => `found ${n}: ${"x".repeat(1000)}`,
});
const remove = defineTool({
  name: "remove_all",
  description: "Removes all.",
  input: z.object({}),
  effect: "write",
  execute: () => "removed",
});
const compile = defineTool({
  name: "compile",
  description: "Runs a compiler that fails.",
  input: z.object({}),
  effect: "read",
  execute: () => ({ content: "no such file", data: { exitCode: 3 } }),
});
const steps = 120;
const gate = Promise.withResolvers<void>();

async function findsNothing(page: Page, state: string): Promise<void> {
  assert.deepEqual(await violationsOf(page), [], state);
}

describe("the runs, all else", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(
      ({ messages }, count) => {
        const last = messages.at(-1)!;
        const asked = String(messages.findLast(({ role }) => role === "user")?.content);
        if (asked === "a letter")
          return last.role === "tool" ? "It was sent." : [{ call: "send_letter", arguments: {} }];
        if (asked === "compile") return last.role === "tool" ? "It fails." : [{ call: "compile", arguments: {} }];
        if (asked === "remove") return last.role === "tool" ? "Then not." : [{ call: "remove_all", arguments: {} }];
        if (asked === "again") return [{ call: "look_up", arguments: { n: 1 } }];
        if (asked === "wait") return [{ text: "one moment" }, { gate: () => gate.promise }];
        if (asked === "fail") return [{ error: "refused", message: "not with me" }];
        const done = messages.filter(({ role }) => role === "tool").length;
        return asked === "a lot" && done < 5 * steps
          ? Array.from({ length: 5 }, (_, n) => ({ call: "look_up", arguments: { n: count * 5 + n } }))
          : "enough";
      },
      {},
      {
        tools: [silent, look, compile, remove],
        approval: { ask: ["remove_all"] },
        limits: { steps: steps + 10, toolCalls: 5 * steps + 10 },
      },
    );
    browser = await openBrowser();
    // What a service worker lets through, Playwright may not see.
    const wide = { viewport: { width: 1280, height: 900 }, serviceWorkers: "block" } as const;
    page = await browser.open(`${server.url}/runs`, wide);
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const client = () => createClient({ url: server.url });
  const begin = async (content: string) => {
    const thread = await client().createThread();
    const { id } = await client().startRun(thread.id, { agent: "assistant", content });
    for await (const { event } of client().follow(id)) if (event.type === "run-wait") break;
    return id;
  };
  const line = (text: string | RegExp) => page.getByRole("treegrid").getByRole("row", { name: text });

  test("a write whose outcome nobody knows is resolved in place", async () => {
    const id = await begin("a letter");
    await page.goto(`${server.url}/runs/${id}`);
    await line(/^send_letter outcome unknown/).waitFor();
    await findsNothing(page, "unknown");
    await page.getByRole("button", { name: "Mark as done" }).click();
    await line(/It was sent/).waitFor();
    await page.getByRole("status").getByText("done").waitFor();
  });

  test("so is that of a run that has ended, by an admin", async () => {
    const id = await begin("a letter");
    await client().cancel(id);
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("status").getByText("stopped").waitFor();
    await line(/^send_letter/).click();
    await page.getByText("unknown whether it was done").waitFor();
    await page.getByRole("button", { name: "Mark as not done" }).click();
    await page.getByText("not done", { exact: true }).waitFor();
  });

  test("why it failed stands where it failed", async () => {
    const id = await begin("fail");
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("status").getByText("failed").waitFor();
    await line(/^Step 1 script, failed/).click();
    await page.getByRole("region", { name: "Step 1" }).getByText("not with me").first().waitFor();
    await findsNothing(page, "failed");
    const german = await browser.open(`${server.url}/runs/${id}`, { locale: "de-DE" });
    const why = /Das Modell hat die Anfrage abgelehnt\. \(Meldung des Servers: .*not with me/;
    await german.getByText(why).first().waitFor();
    await german.goto(`${server.url}/chat/${(await client().run(id)).threadId}`);
    await german
      .getByRole("alert")
      .getByText(/^Fehlgeschlagen: /)
      .and(german.getByText(why))
      .waitFor();
    await findsNothing(german, "failed, in German");
    await german.context().close();
  });

  test("a command that failed is no success, and what was not allowed no failure", async () => {
    await page.goto(`${server.url}/runs/${await begin("compile")}`);
    await line(/^compile exit code 3/)
      .locator("[data-grade=warn]")
      .waitFor();
    await findsNothing(page, "exit code");
    const id = await begin("remove");
    const [question] = await client().questions();
    await client().decide(question!, { decision: "deny", text: "keep it" });
    await page.goto(`${server.url}/runs/${id}`);
    await line(/^remove_all denied/)
      .locator("[data-grade=quiet]")
      .first()
      .waitFor();
    await findsNothing(page, "denied");
  });

  test("a call that a limit held back, and nobody let go on, is no work", async () => {
    const id = await begin("again");
    const [question] = await client().questions();
    await client().decide(question!, { decision: "stop" });
    await page.goto(`${server.url}/runs/${id}`);
    const held = line(/^look_up interrupted/);
    await held.waitFor();
    await held.locator('[data-kind="asked"]').waitFor({ state: "attached" });
    await held.locator('.trace-bar[data-kind="call"]').waitFor({ state: "detached" });
  });

  test("a long run: its newest part at first, then all; texts are shown whole when asked for", async () => {
    const id = await begin("a lot");
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByText("Showing only the latest part.").waitFor();
    await page.getByRole("heading", { name: "a lot" }).waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await line(/^Message a lot/).waitFor();
    await page.getByText("Showing only the latest part.").waitFor({ state: "detached" });
    await line(/^look_up/)
      .first()
      .click();
    const shown = page.getByRole("region", { name: "look_up" }).getByLabel("Output");
    assert.ok((await shown.innerText()).length < 400);
    await page.getByRole("button", { name: "Show all" }).click();
    await untilTrue(page, "document.querySelector('[aria-label=Output]').innerText.length > 1000");
  });

  test("one that can't be followed is asked after, to its end", async () => {
    await page.route("**/api/runs/*/events*", (route) => route.fulfill({ status: 204 }));
    const thread = await client().createThread();
    const { id } = await client().startRun(thread.id, { agent: "assistant", content: "wait" });
    await page.goto(`${server.url}/runs/${id}`);
    await line(/calling the model/).waitFor();
    gate.resolve();
    await page.getByRole("status").getByText("done").waitFor();
    await page.unroute("**/api/runs/*/events*");
  });

  test("in a list of several pages none is lost when another one begins", async () => {
    const said = Array.from({ length: 60 }, (_, n) => `hello ${n}`);
    for (const content of said) await begin(content);
    await page.goto(`${server.url}/runs`);
    await page.getByRole("button", { name: "Older", exact: true }).click();
    await page.getByRole("link", { name: "hello 0", exact: true }).waitFor();
    await begin("one more");
    await page.getByRole("link", { name: "one more" }).waitFor();
    const shown = await page.locator(".run-link").allInnerTexts();
    assert.deepEqual(
      said.filter((text) => !shown.includes(text)),
      [],
    );
  });

  test("a call and a message whose answers got lost are made once, however often they are sent", async () => {
    const lose = (path: string) =>
      page.route(
        path,
        async (route) => {
          await route.fetch();
          await route.abort("connectionreset");
        },
        { times: 1 },
      );
    const runs = async () =>
      ((await (await fetch(`${server.url}/api/runs?limit=100`)).json()) as { data: unknown[] }).data.length;
    await page.goto(`${server.url}/runs?tool=look_up`);
    const form = page.getByRole("form", { name: "look_up" });
    await form.getByLabel("n (required)").fill("7");
    const before = await runs();
    await lose("**/api/tools/look_up/calls");
    await form.getByRole("button", { name: "Call" }).click();
    await form.getByRole("alert").waitFor();
    await form.getByRole("button", { name: "Call" }).click();
    await page.getByText("found 7").first().waitFor();
    assert.equal(await runs(), before + 1);
    await form.getByRole("button", { name: "Call" }).click();
    await until(async () => (await runs()) === before + 2);
  });

  test("a run that is not there says so", async () => {
    await page.goto(`${server.url}/runs/018f0000-0000-7000-8000-00000000dead`);
    await page.getByRole("alert").waitFor();
    await findsNothing(page, "gone");
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 404|ERR_CONNECTION_RESET|blocked by Playwright/.test(text)),
      [],
    );
  });
});
