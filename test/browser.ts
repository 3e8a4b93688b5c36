import AxeBuilder from "@axe-core/playwright";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPage } from "./build-page.ts";
import { loadPage } from "../src/http/files/page-files.ts";
import { type AgentServing, type AgentServingOptions, serveAgents } from "./serve-agents.ts";
import { until } from "./run-suite.ts";
import { serve } from "./serve.ts";
import type { Adapter } from "../src/models/transport/adapter.ts";
import type { Script } from "../src/models/demo/scripted.ts";

/** Where there is no Chromium, which scripts/system.mjs tells. */
export const skipBrowser = process.env["COLLOQUY_TEST_CHROMIUM"] === "no" && "there is no Chromium";

export type PageServing = AgentServing & { readonly url: string };

/** What axe finds in the page as it stands; `rule`: by this one alone, much sooner. */
export async function violationsOf(page: Page, rule?: string): Promise<string[]> {
  // The ends of a menu, which take the focus only to hand it on.
  const axe = new AxeBuilder({ page }).exclude("[data-base-ui-focus-guard]");
  const { violations } = await (
    rule === undefined ? axe.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]) : axe.withRules(rule)
  ).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** A whole server as `serveAgents` makes it, with the page as its sources are now. */
export async function servePage(
  script: Script,
  adapters: Readonly<Record<string, Adapter>> = {},
  options: AgentServingOptions = {},
): Promise<PageServing> {
  const folder = buildPage();
  const backend = await serveAgents(script, adapters, options);
  const serving = await serve({ ...backend.services, page: loadPage(folder) });
  return {
    ...backend,
    url: serving.url,
    async close() {
      await serving.close();
      await backend.close();
    },
  };
}

/** Until an expression is true in the page. Its policy forbids what Playwright's own waiting does with one. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await until(async () => (await page.evaluate(expression)) === true, expression);
}

/** Says yes to what the page asks back, by the button that says what then happens. */
export async function agree(page: Page, action: string): Promise<void> {
  await page.getByRole("alertdialog").getByRole("button", { name: action, exact: true }).click();
}

/** In the conversation that is open. */
export async function sayOn(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

export type OpenBrowser = {
  readonly browser: Browser;
  /** A tab; what it complains of, and what it asks of other hosts, is kept. */
  readonly open: (url: string, options?: Parameters<Browser["newPage"]>[0]) => Promise<Page>;
  /** Of one tab or of all. */
  readonly complaints: (of?: Page) => readonly string[];
  readonly close: () => Promise<void>;
};

export async function openBrowser(): Promise<OpenBrowser> {
  const complaints: { readonly page: Page; readonly text: string }[] = [];
  const browser = await chromium.launch({
    executablePath: process.env["COLLOQUY_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-sync",
    ],
  });
  return {
    browser,
    async open(url, options = {}) {
      const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-GB", ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      const complain = (text: string) => complaints.push({ page, text });
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complain(message.text());
      });
      page.on("pageerror", (error) => complain(String(error)));
      page.on("request", (request) => {
        const { origin, protocol } = new URL(request.url());
        if (protocol.startsWith("http") && origin !== new URL(url).origin) complain(`asks ${request.url()}`);
      });
      await page.goto(url);
      return page;
    },
    complaints: (of) => complaints.flatMap(({ page, text }) => (of === undefined || of === page ? [text] : [])),
    close: () => browser.close(),
  };
}
