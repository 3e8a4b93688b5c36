import type { Browser, CDPSession, Page } from "playwright-core";
import { summarize } from "./statistics.ts";

export type Length = "empty" | "long";
export type Seen = { readonly frameMs: number; readonly keyMs: number };

/** Counts frames, and takes the time from a key press to the frame after which its letter is painted. */
const watchFrames = `(() => {
  const seen = (window.seen = { frames: 0, keys: [] });
  const count = () => { seen.frames++; requestAnimationFrame(count); };
  requestAnimationFrame(count);
  let pressed;
  addEventListener("keydown", (event) => (pressed = event.timeStamp), true);
  addEventListener("input", () => {
    const from = pressed;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => seen.keys.push(performance.now() - from);
      port2.postMessage("");
    });
  }, true);
})()`;

/** Sends a message, and looks at the page for some seconds while its answer comes; then stops it. */
export async function measureStream(browser: Browser, url: string, seconds: number): Promise<Seen> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  const field = page.getByRole("textbox", { name: "Message" });
  await page.locator(".turn, h1").first().waitFor();
  await field.fill("Go on for ever.");
  // Those of the rounds before stand there too.
  const before = await page.getByText("word20").count();
  await page.keyboard.press("Enter");
  await page.getByText("word20").nth(before).waitFor();
  await page.evaluate(watchFrames);
  const began = performance.now();
  const start = await page.evaluate<number>("window.seen.frames");
  await page.waitForTimeout(seconds * 1000);
  const frames = (await page.evaluate<number>("window.seen.frames")) - start;
  const frameMs = (performance.now() - began) / frames;
  await field.focus();
  for (let key = 0; key < seconds * 8; key++) await page.keyboard.press("a", { delay: 30 });
  await page.waitForTimeout(200);
  const keys = await page.evaluate<number[]>("window.seen.keys");
  if (keys.length < seconds * 6) throw new Error(`only ${keys.length} key presses were seen`);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await page.close();
  return { frameMs, keyMs: summarize(keys).p95 };
}

/** The time at which what is looked for is there, on the page's own clock. */
const timeOf = (what: string, from = "0") => `new Promise((resolve, reject) => {
  const until = performance.now() + 30000;
  const begun = ${from};
  const look = () => {
    const log = document.querySelector('[role=log]');
    if (log && (${what})) requestAnimationFrame(() => resolve(performance.now() - begun));
    else if (performance.now() > until) reject(new Error("it was not there within 30 s"));
    else requestAnimationFrame(look);
  };
  look();
})`;
/** An empty conversation is there once it is no longer read. */
const isThere = `log.querySelector('.turn:last-of-type') || (window.wasBusy && log.ariaBusy === "false")`;
/** It may be read within a frame, or before anybody looks. */
const noteBusy = `new MutationObserver((changes) => {
  const isBusy = document.querySelector('[role=log]')?.ariaBusy === "true";
  window.wasBusy ||= isBusy || changes.some(({ oldValue }) => oldValue === "true");
}).observe(document, { subtree: true, childList: true, attributeFilter: ["aria-busy"], attributeOldValue: true });`;

export async function measureOpening(
  browser: Browser,
  url: string,
  thread: string,
): Promise<{ readonly tabMs: number; readonly clickMs: number; readonly listMs: number }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(noteBusy);
  // Once, so that its parts are in the browser's cache.
  await page.goto(url);
  await page.locator(".thread-entry").first().waitFor();
  await page.goto(`${url}/chat/${thread}`, { waitUntil: "commit" });
  const tabMs = await page.evaluate<number>(timeOf(isThere));
  await page.goto(url, { waitUntil: "commit" });
  const listMs = await page.evaluate<number>(timeOf("document.querySelector('.thread-entry')"));
  // As a link in the list does it: the page is there, the conversation is not.
  const clickMs = await page.evaluate<number>(
    `(() => { window.wasBusy = false; history.pushState(null, "", "/chat/${thread}"); dispatchEvent(new PopStateEvent("popstate")); return ${timeOf(isThere, "performance.now()")}; })()`,
  );
  await context.close();
  return { tabMs, clickMs, listMs };
}

/** Megabytes of the heap before and after so many clicks on "older". */
export async function readToTheTop(
  browser: Browser,
  url: string,
  times: number,
): Promise<{ readonly before: number; readonly after: number; readonly turns: number }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await page.locator(".turn").first().waitFor();
  const session = await page.context().newCDPSession(page);
  const before = await heapOf(session);
  for (let time = 0; time < times; time++) await showOlder(page);
  const after = await heapOf(session);
  await page.close();
  return { before, after, turns: times * 30 };
}

async function showOlder(page: Page): Promise<void> {
  const first = () => page.evaluate<string>("document.querySelector('[data-message-id]').dataset.messageId");
  const was = await first();
  await page.evaluate(
    "[...document.querySelectorAll('[role=log] button')].find((button) => button.innerText.includes('older')).click()",
  );
  const until = performance.now() + 30_000;
  while ((await first()) === was) {
    if (performance.now() > until) throw new Error("no older turns came in 30 s");
    await page.waitForTimeout(5);
  }
}

export async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}
