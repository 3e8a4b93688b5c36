import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { loadPage } from "../../src/http/files/page-files.ts";
import { openBrowser, skipBrowser } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { firstLoadBytes } from "../../test/first-load.ts";
import { serve } from "../../test/serve.ts";
import { until } from "../../test/run-suite.ts";
import { serveAgents } from "../../test/serve-agents.ts";

const most = 240_000;
/** Each answer of some fifty has a head of a kilobyte, for what a browser may do with it. */
const maxOnTheWire = 300_000;

test("what the first view waits for is at most 240 KB, compressed", () => {
  const bytes = firstLoadBytes(buildPage());
  assert.ok(bytes > 50_000 && bytes <= most, `${bytes} bytes`);
});

test("the page shows its name before its scripts and styles are there, which come in few files", () => {
  const html = readFileSync(join(buildPage(), "index.html"), "utf8");
  const [head = "", body = ""] = html.split("</head>");
  assert.doesNotMatch(head, /rel="stylesheet"/);
  assert.match(body, /Loading…[^]*rel="stylesheet"/);
  // With the words as many as browsers fetch at once.
  const files = html.match(/assets\/[^"]+/g) ?? [];
  assert.ok(files.length <= 5, files.join("\n"));
  // What asks for the words runs before what is long.
  const [words = -1, page = -1] = ["words", "page"].map((name) => html.indexOf(`src="./assets/${name}-`));
  assert.ok(words > 0 && words < page, html);
});

test(
  "until the net is quiet there are at most 300 KB, with what the server answers and all heads",
  {
    skip: skipBrowser,
    timeout: 150_000,
  },
  async () => {
    const backend = await serveAgents(() => "an answer");
    const serving = await serve({ ...backend.services, page: loadPage(buildPage()) });
    const sockets: Socket[] = [];
    serving.app.server.on("connection", (socket: Socket) => sockets.push(socket));
    let asked = 0;
    let isFollowing = false;
    serving.app.server.on("request", ({ url }: IncomingMessage, answer: ServerResponse) => {
      if (url === "/api/events") return void (isFollowing = true);
      asked++;
      answer.once("close", () => asked--);
    });
    const browser = await openBrowser();
    try {
      const page = await browser.open(serving.url);
      await page.getByRole("heading", { name: "What can I help with?" }).waitFor({ timeout: 60_000 });
      await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
      await until(() => isFollowing && asked === 0, "all is answered, and the stream is open");
      const bytes = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
      assert.ok(bytes > 50_000 && bytes <= maxOnTheWire, `${bytes} bytes`);

      // What formats answers comes once there will be one.
      const formats = page.waitForResponse(/\/assets\/markdown-.*\.js$/);
      await page.getByRole("textbox", { name: "Message" }).press("a");
      await formats;
      assert.deepEqual(browser.complaints(), []);
    } finally {
      await browser.close();
      await serving.close();
      await backend.close();
    }
  },
);
