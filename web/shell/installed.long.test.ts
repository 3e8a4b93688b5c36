import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { loadPage } from "../../src/http/files/page-files.ts";
import { type OpenBrowser, openBrowser, skipBrowser, violationsOf } from "../../test/browser.ts";
import { buildPage } from "../../test/build-page.ts";
import { type AgentServing, serveAgents } from "../../test/serve-agents.ts";
import { serve, type Serving } from "../../test/serve.ts";

const basePath = "/ai/colloquy";

describe("the page as an app, below a path of a proxy", { skip: skipBrowser }, () => {
  let backend: AgentServing;
  let serving: Serving;
  let browser: OpenBrowser;
  const start = (port = 0) => {
    const { services } = backend;
    return serve({ ...services, server: { ...services.server, basePath }, page: loadPage(buildPage()) }, port);
  };
  before(async () => {
    backend = await serveAgents(() => "an answer");
    serving = await start();
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await serving.close();
    await backend.close();
  });

  test("browsers find nothing that keeps it from being installed", async () => {
    const page = await browser.open(`${serving.url}${basePath}/`);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    const devTools = await page.context().newCDPSession(page);
    const { installabilityErrors } = await devTools.send("Page.getInstallabilityErrors");
    // A window without a profile can't install at all.
    const errors = installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito");
    assert.deepEqual(errors, []);
    const { url, errors: faults, data = "" } = await devTools.send("Page.getAppManifest");
    assert.equal(url, `${serving.url}${basePath}/manifest.webmanifest`);
    assert.deepEqual(faults, []);
    const { icons, start_url: start } = JSON.parse(data) as {
      icons: { src: string; type: string }[];
      start_url: string;
    };
    assert.equal(new URL(start, url).href, `${serving.url}${basePath}/`);
    for (const { src, type } of [...icons, { src: "./icons/apple-touch-icon.png", type: "image/png" }]) {
      const icon = await page.request.get(new URL(src, url).href);
      assert.equal(icon.headers()["content-type"], type, src);
    }
    assert.equal((await page.request.get(`${serving.url}${basePath}/icons/none.png`)).status(), 404);
    await page.close();
  });

  test("without its server it says so, tries again, and comes back to where one was", async () => {
    const page = await browser.open(`${serving.url}${basePath}/`);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    // Kept are the page's parts, and nothing that the server answered.
    const kept = await page.evaluate<string[]>(`navigator.serviceWorker.ready
      .then(() => caches.keys())
      .then((names) => caches.open(names[0]))
      .then((cache) => cache.keys())
      .then((requests) => requests.map(({ url }) => new URL(url).pathname))`);
    assert.ok(kept.includes(`${basePath}/offline.html`));
    assert.deepEqual(
      kept.filter((path) => !/\/(?:offline\.html|assets\/[^/]+)$/.test(path)),
      [],
    );

    const complaints = browser.complaints().length;
    const port = Number(new URL(serving.url).port);
    await serving.close();
    await page.goto(`${serving.url}${basePath}/settings/use`);
    await page.getByRole("heading", { name: "Can't reach the server" }).waitFor();
    assert.deepEqual(await violationsOf(page), [], "without server");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await violationsOf(page), [], "without server, dark");
    serving = await start(port);
    await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
    // Of a server that is away, browsers say so themselves; while it goes, it says 503.
    const more = browser.complaints().slice(complaints);
    assert.deepEqual(
      more.filter((text) => !/ERR_CONNECTION_REFUSED|404|503|Failed to fetch/.test(text)),
      [],
    );
    await page.close();
  });

  test("asked nothing of other hosts, and complained of nothing else", () => {
    const rest = browser.complaints().filter((text) => !/ERR_CONNECTION_REFUSED|404|503|Failed to fetch/.test(text));
    assert.deepEqual(rest, []);
  });
});
