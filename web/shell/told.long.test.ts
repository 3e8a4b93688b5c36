import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  type OpenBrowser,
  openBrowser,
  type PageServing,
  servePage,
  skipBrowser,
  untilTrue,
  violationsOf,
} from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { pictureOf } from "../../test/page-pictures.ts";
import { until } from "../../test/run-suite.ts";
import { serve } from "../../test/serve.ts";
import { createClient } from "../../src/client/client.ts";
import { createTaskClient } from "../../src/client/tasks.ts";
import { loadPage } from "../../src/http/files/page-files.ts";

describe("what people are told where something leads nowhere", { skip: skipBrowser }, () => {
  let server: PageServing;
  let browser: OpenBrowser;
  let page: Page;
  before(async () => {
    server = await servePage(() => "Hello.");
    browser = await openBrowser();
    page = await browser.open(server.url, { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  });
  after(async () => {
    await browser.close();
    await server.close();
  });

  const findsNothing = async (state: string) => {
    await pictureOf(page, state);
    assert.deepEqual(await violationsOf(page), [], state);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
  };

  test("people get the page, which says so and leads on; programs get JSON", async () => {
    for (const path of ["/nowhere", "/nowhere/at/all", "/admin/nothing", "/settings/nothing"]) {
      const answer = await page.goto(server.url + path);
      assert.equal(answer?.status(), path.startsWith("/nowhere") ? 404 : 200);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
    }
    await findsNothing("nowhere");
    await page.getByRole("link", { name: "Back to home" }).click();
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    const asked: readonly [string, string][] = [
      ["/nowhere", "*/*"],
      ["/nowhere", "application/json"],
      ["/api/nowhere", "text/html"],
    ];
    for (const [path, accept] of asked) {
      const answer = await fetch(server.url + path, { headers: { accept } });
      assert.deepEqual([answer.status, answer.headers.get("content-type")?.slice(0, 16)], [404, "application/json"]);
      assert.match(await answer.text(), /unknown_route/);
    }
  });

  test("a conversation that is not there is not to be tried again, nor spoken to", async () => {
    for (const id of ["nonsense", crypto.randomUUID()]) {
      await page.goto(`${server.url}/chat/${id}`);
      await page.getByRole("alert").getByText("Conversation not found.").waitFor();
      await page.getByRole("log").getByRole("link", { name: "New conversation" }).waitFor();
      assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
      assert.equal(await page.getByRole("textbox", { name: "Message" }).count(), 0);
    }
    await findsNothing("conversation gone");
    await page.getByRole("log").getByRole("link", { name: "New conversation" }).click();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  });

  test("an agent that is not there is told of, and the usual one answers", async () => {
    await page.goto(`${server.url}/?agent=nobody`);
    await page.getByText("Agent @nobody not found").waitFor();
    await page.getByRole("textbox", { name: "Message" }).and(page.getByPlaceholder("Message @assistant")).waitFor();
    await findsNothing("no such agent");
  });

  test("why something was not sent is seen at once, below whatever it stands", async () => {
    await page
      .locator("input[type=file]")
      .setInputFiles([{ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) }]);
    await page.getByRole("textbox", { name: "Message" }).fill("what is in it?");
    await page.keyboard.press("Enter");
    const told = page.getByRole("alert").filter({ hasText: "Not sent: These files failed to upload" });
    await told.waitFor();
    const box = `document.querySelector("[role=log] [role=alert]").getBoundingClientRect()`;
    await untilTrue(page, `${box}.bottom <= document.querySelector("form").getBoundingClientRect().top`);
    await findsNothing("not sent");
    await page.getByRole("button", { name: "Remove empty.txt" }).click();
  });

  test("a link that only this machine can follow is told of before it is made", async () => {
    await page.getByRole("textbox", { name: "Message" }).fill("to be shared");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("Hello.").waitFor();
    await page.getByRole("main").getByRole("button", { name: "More options" }).click();
    await page.getByRole("menuitem", { name: "Share…" }).click();
    await page.getByRole("dialog").getByText("work on this machine only").waitFor();
    await findsNothing("share here");
  });

  test("a tab too many says so, does not ask again by itself, and goes on when there is room", async () => {
    const narrow = await serve({
      ...server.services,
      page: loadPage(buildPage()),
      server: { ...server.services.server, streamsPerUser: 1 },
    });
    try {
      const client = createClient({ url: narrow.url });
      const thread = await client.createThread({ title: "Much is open" });
      const asked: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];
      narrow.app.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        if (request.url === "/api/events") asked.push({ request, response });
      });
      const elsewhere = new AbortController();
      const { signal } = elsewhere;
      assert.ok((await fetch(`${narrow.url}/api/threads/${thread.id}/events`, { signal })).ok);
      const conversation = await browser.open(`${narrow.url}/chat/${thread.id}`);
      const otherHost = new URL("/tasks", narrow.url.replace("127.0.0.1", "localhost"));
      const tasks = await browser.open(otherHost.href);
      const told = (tab: Page) => tab.getByRole("alert").filter({ hasText: "Too many open tabs" });
      for (const tab of [conversation, tasks]) {
        await told(tab).waitFor();
        await pictureOf(tab, `too many streams, ${tab === tasks ? "tasks" : "conversation"}`);
        assert.deepEqual(await violationsOf(tab), []);
      }
      const ofTasks = () => asked.filter(({ request }) => request.headers.host === otherHost.host);
      const before = ofTasks().length;
      elsewhere.abort();
      /** Until the server has noticed that there is room. */
      const tryAgain = async (tab: Page) => {
        do {
          const count = asked.length;
          await tab.getByRole("button", { name: "Try again" }).click();
          await until(() => asked.length > count && asked.every(({ response }) => response.headersSent));
        } while (asked.at(-1)!.response.statusCode === 429);
        await told(tab).waitFor({ state: "detached" });
      };
      await tryAgain(conversation);
      await client.startRun(thread.id, { agent: "assistant", content: "is there news?" });
      await conversation.getByRole("log").getByText("Hello.").waitFor();
      assert.equal(ofTasks().length, before);
      await conversation.context().close();
      await createTaskClient({ url: narrow.url }).add({ title: "From elsewhere" }, crypto.randomUUID());
      await tryAgain(tasks);
      await tasks.getByText("From elsewhere").waitFor();
      await tasks.context().close();
    } finally {
      await narrow.close();
    }
  });

  test("nobody complains but of what is not there", () => {
    assert.deepEqual(
      browser.complaints().filter((text) => !/status of 4(00|04|29)/.test(text)),
      [],
    );
  });
});
