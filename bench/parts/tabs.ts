import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium } from "playwright-core";
import { createClient } from "../../src/client/client.ts";
import { buildPage } from "../../test/build-page.ts";
import { startPostgres } from "../../test/postgres.ts";
import { startStreamGateway, type StreamGateway } from "../../test/stream-gateway.ts";
import { startPageModel } from "../page-model.ts";
import { inRounds, withOwned, type Bench, type Part } from "../part.ts";
import { startProduct } from "../product.ts";
import type { Usage } from "../probe.ts";
import type { Row } from "../rows.ts";

const executablePath = process.env["COLLOQUY_TEST_CHROMIUM"] ?? "/usr/bin/chromium";
const counts = { one: 1, five: 5 } as const;
type Tabs = keyof typeof counts;

export const tabs: Part = {
  name: "tabs",
  run: (bench) =>
    existsSync(executablePath)
      ? measureTabs(bench)
      : (bench.log(`tabs: no Chromium at ${executablePath}`), Promise.resolve([])),
};

type TabUse = { readonly streams: number; readonly cpuMs: number };

function measureTabs(bench: Bench): Promise<readonly Row[]> {
  return withOwned(async (own) => {
    buildPage();
    const postgres = own(await startPostgres({ fsync: true }));
    const model = own(await startPageModel());
    const models = [
      { id: "default", provider: "openai", baseUrl: model.url, model: "words", apiKey: "bench", contextTokens: 1e6 },
    ];
    const databaseUrl = await postgres.createDatabase();
    const server = own(await startProduct({ modelUrl: model.url, scripts: [], config: { models }, databaseUrl }));
    const gateway = await startStreamGateway(`http://127.0.0.1:${server.port}`);
    own({ stop: () => gateway.close() });
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    own({ stop: () => browser.close() });
    const cpuOf = async () => (await server.child.call<Usage>("usage")).cpuMs;
    const seconds = bench.quick ? 3 : 10;
    const used = await inRounds(bench.rounds, ["one", "five"] as const, (many: Tabs) =>
      measureUse({ browser, gateway, url: `http://127.0.0.1:${server.port}`, count: counts[many], seconds, cpuOf }),
    );
    return [
      {
        part: "tabs",
        name: "event streams while five tabs show one answer",
        unit: "",
        values: used.five.map(({ streams }) => streams),
        bar: { kind: "value", max: 1 },
      },
      {
        part: "tabs",
        name: "CPU of the server for each second of the answer, against one tab",
        unit: "ms",
        values: used.five.map(({ cpuMs }) => cpuMs),
        reference: used.one.map(({ cpuMs }) => cpuMs),
        bar: { kind: "ratio", max: 1.3 },
      },
    ];
  });
}

type UseOptions = {
  readonly browser: Browser;
  readonly gateway: StreamGateway;
  readonly url: string;
  readonly count: number;
  readonly seconds: number;
  readonly cpuOf: () => Promise<number>;
};

async function measureUse({ browser, gateway, url, count, seconds, cpuOf }: UseOptions): Promise<TabUse> {
  const client = createClient({ url });
  const thread = await client.createThread();
  const context = await browser.newContext();
  const pages = await Promise.all(Array.from({ length: count }, () => context.newPage()));
  for (const page of pages) {
    await page.goto(`${gateway.url}/chat/${thread.id}`);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  }
  const run = await client.startRun(thread.id, { agent: "assistant", content: "Go on for ever." });
  for (const page of pages) await page.getByText("word20").first().waitFor();
  const before = await cpuOf();
  await sleep(seconds * 1000);
  const cpuMs = ((await cpuOf()) - before) / seconds;
  const streams = gateway.open();
  await client.cancel(run.id);
  await context.close();
  return { streams, cpuMs };
}
