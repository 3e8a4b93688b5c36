import { existsSync } from "node:fs";
import pg from "pg";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPage } from "../../test/build-page.ts";
import { firstLoadBytes } from "../../test/first-load.ts";
import { seedThread } from "../../test/long-thread.ts";
import { startPostgres } from "../../test/postgres.ts";
import { startPageModel } from "../page-model.ts";
import { inRounds, withOwned, type Bench, type Part } from "../part.ts";
import { startProduct } from "../product.ts";
import type { Row } from "../rows.ts";
import { summarize } from "../statistics.ts";
import { type Length, measureOpening, measureStream, readToTheTop, type Seen } from "../page-measures.ts";

const executablePath = process.env["COLLOQUY_TEST_CHROMIUM"] ?? "/usr/bin/chromium";
const agent = `---\n${JSON.stringify({ id: "assistant", model: "default", strategy: "chat", tools: [] })}\n---\nYou talk.\n`;

async function bytesOf(page: Page, go: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send("Network.enable");
  await go();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => undefined);
  await session.detach();
  return bytes / 1000;
}

async function measureBytes(browser: Browser, url: string): Promise<{ first: number; later: number }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const first = await bytesOf(page, () => page.goto(url));
  const later = await bytesOf(page, () => page.reload());
  await context.close();
  return { first, later };
}

/** The smallest of all rounds, for both: what others do on the machine only adds. */
function least(values: readonly number[]): readonly number[] {
  return [summarize(values).min];
}

export const page: Part = {
  name: "page",
  run: (bench) =>
    existsSync(executablePath)
      ? measurePage(bench)
      : (bench.log(`page: no Chromium at ${executablePath}`), Promise.resolve([])),
};

function measurePage(bench: Bench): Promise<readonly Row[]> {
  return withOwned(async (own) => {
    const build = buildPage();
    const postgres = own(await startPostgres({ fsync: true }));
    const model = own(await startPageModel());
    const databaseUrl = await postgres.createDatabase();
    const models = [
      { id: "default", provider: "openai", baseUrl: model.url, model: "words", apiKey: "bench", contextTokens: 1e6 },
    ];
    const server = own(
      await startProduct({
        modelUrl: model.url,
        scripts: [],
        config: { models },
        files: { "agents/assistant.md": agent },
        databaseUrl,
      }),
    );
    const database = new pg.Client(databaseUrl);
    await database.connect();
    own({ stop: () => database.end() });
    const query = async <Found extends object>(text: string, values: readonly unknown[] = []) =>
      (await database.query<Found>(text, [...values])).rows;
    const [{ id: owner } = { id: "" }] = await query<{ id: string }>(
      "select id from users order by created_at limit 1",
    );
    const seed = (messages: number) => seedThread(query, { owner, title: `${messages} messages`, messages });

    const url = `http://127.0.0.1:${server.port}`;
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    own({ stop: () => browser.close() });

    bench.log("page: bytes");
    const bytes = await measureBytes(browser, url);

    bench.log("page: streaming");
    const thousand = await seed(1000);
    const streamed = await inRounds(bench.rounds, ["empty", "long"] as const, async (length: Length): Promise<Seen> =>
      measureStream(browser, `${url}/chat/${length === "empty" ? await seed(0) : thousand}`, bench.quick ? 1 : 5),
    );

    bench.log("page: opening");
    const threads = { empty: await seed(0), long: await seed(10_000) };
    for (let count = 0; count < (bench.quick ? 10 : 990); count++) await seed(0);
    const opened = await inRounds(bench.quick ? 1 : bench.rounds * 2, ["empty", "long"] as const, (length: Length) =>
      measureOpening(browser, url, threads[length]),
    );
    bench.log("page: reading upwards");
    const memory = await readToTheTop(browser, `${url}/chat/${threads.long}`, bench.quick ? 3 : 60);

    return [
      {
        part: "page",
        name: "what index.html loads at once, gzipped",
        unit: "KB",
        values: [firstLoadBytes(build) / 1000],
        bar: { kind: "value", max: 240 },
      },
      { part: "page", name: "a first view, with what it then prepares", unit: "KB", values: [bytes.first] },
      { part: "page", name: "a later view", unit: "KB", values: [bytes.later] },
      {
        part: "page",
        name: "time of a frame while an answer streams into 1,000 messages, against an empty thread (1.11×: 90 % of its frames)",
        unit: "ms",
        values: least(streamed.long.map(({ frameMs }) => frameMs)),
        reference: least(streamed.empty.map(({ frameMs }) => frameMs)),
        bar: { kind: "ratio", max: 1.111 },
      },
      {
        part: "page",
        name: "a key press until it is painted, meanwhile, p95, against an empty thread",
        unit: "ms",
        values: least(streamed.long.map(({ keyMs }) => keyMs)),
        reference: least(streamed.empty.map(({ keyMs }) => keyMs)),
        bar: { kind: "value", max: 30 },
      },
      {
        part: "page",
        name: "a thread of 10,000 messages in a new tab, until its end is painted, against an empty one",
        unit: "ms",
        values: least(opened.long.map(({ tabMs }) => tabMs)),
        reference: least(opened.empty.map(({ tabMs }) => tabMs)),
        bar: { kind: "ratio", max: 1.2 },
      },
      {
        part: "page",
        name: "the same, from another conversation by a click",
        unit: "ms",
        values: least(opened.long.map(({ clickMs }) => clickMs)),
        reference: least(opened.empty.map(({ clickMs }) => clickMs)),
      },
      {
        part: "page",
        name: "the list of 1,000 conversations in a new tab",
        unit: "ms",
        values: least([...opened.long, ...opened.empty].map(({ listMs }) => listMs)),
      },
      {
        part: "page",
        name: `heap of the tab after ${memory.turns} turns of 10,000 messages were read upwards, against before`,
        unit: "MB",
        values: [memory.after],
        reference: [memory.before],
      },
    ];
  });
}
