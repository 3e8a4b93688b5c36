import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { createClient } from "../../src/client/client.ts";
import { buildPage } from "../../test/build-page.ts";
import { startPostgres } from "../../test/postgres.ts";
import { type AnswerTasks, measureAnswer, measureHeap } from "../answer-measures.ts";
import { startAnswerModel } from "../answer-model.ts";
import { inRounds, withOwned, type Bench, type Part } from "../part.ts";
import { startProduct } from "../product.ts";
import type { Row } from "../rows.ts";
import { summarize } from "../statistics.ts";

const executablePath = process.env["COLLOQUY_TEST_CHROMIUM"] ?? "/usr/bin/chromium";
const agent = `---\n${JSON.stringify({ id: "assistant", model: "default", strategy: "chat", tools: [] })}\n---\nYou talk.\n`;
const kinds = ["prose", "code", "table"] as const;
const about = { prose: "300 KB of prose", code: "2,000 lines of code", table: "a table of 500 rows" } as const;

export const answers: Part = {
  name: "answers",
  run: (bench) =>
    existsSync(executablePath)
      ? measureAnswers(bench)
      : (bench.log(`answers: no Chromium at ${executablePath}`), Promise.resolve([])),
};

function measureAnswers(bench: Bench): Promise<readonly Row[]> {
  return withOwned(async (own) => {
    buildPage();
    const postgres = own(await startPostgres({ fsync: true }));
    const model = own(await startAnswerModel());
    const models = [
      { id: "default", provider: "openai", baseUrl: model.url, model: "words", apiKey: "bench", contextTokens: 1e6 },
    ];
    const server = own(
      await startProduct({
        modelUrl: model.url,
        scripts: [],
        config: { models, titles: { by: "first-words" } },
        files: { "agents/assistant.md": agent },
        databaseUrl: await postgres.createDatabase(),
      }),
    );
    const url = `http://127.0.0.1:${server.port}`;
    const client = createClient({ url });
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    own({ stop: () => browser.close() });
    const newThread = async () => (await client.createThread()).id;

    const sizes = bench.quick ? { prose: 20_000, code: 200, table: 20 } : { prose: 300_000, code: 2000, table: 500 };
    bench.log("answers: tasks");
    const seen = await inRounds(bench.rounds, kinds, async (kind) =>
      measureAnswer(browser, url, { thread: await newThread(), kind, size: sizes[kind] }),
    );
    bench.log("answers: memory");
    const after = bench.quick ? [1, 2, 4] : [20, 100, 200];
    const heap = await measureHeap(browser, url, { thread: await newThread(), after });
    const [few, some, many] = heap.map(({ heapMb }) => heapMb);
    return [
      ...kinds.flatMap((kind) => rowsOf(about[kind], seen[kind])),
      {
        part: "answers",
        name: `heap of a tab after ${after[2]} answers, against after ${after[1]}`,
        unit: "MB",
        values: [many ?? NaN],
        reference: [some ?? NaN],
        bar: { kind: "ratio", max: 1.1 },
        note: `after ${after[0]}: ${few?.toFixed(1)}; nodes of the page: ${heap.map(({ nodes }) => nodes).join(", ")}`,
      },
    ];
  });
}

const moments = { streamed: "written", opened: "opened by a click", read: "read upwards" } as const;

/** Of the rounds the smallest, for both sides: what others do on the machine only adds. */
function rowsOf(what: string, seen: readonly AnswerTasks[]): readonly Row[] {
  const least = (valueOf: (tasks: AnswerTasks) => number) => summarize(seen.map(valueOf)).min;
  return [
    ...(["streamed", "opened", "read"] as const).map((moment): Row => ({
      part: "answers",
      name: `CPU of the longest task of the page, ${what} ${moments[moment]}`,
      unit: "ms",
      values: [least((tasks) => tasks[moment].cpuMs)],
      // A table is read and mounted in one go: where its columns stand depends on all of its rows.
      ...(what === about.table ? {} : { bar: { kind: "value", max: 50 } }),
      note: `${least((tasks) => tasks[moment].wallMs).toFixed(0)} ms by the clock`,
    })),
    {
      part: "answers",
      name: `from a click until the end of ${what} is there`,
      unit: "ms",
      values: [least(({ shownMs }) => shownMs)],
    },
    {
      part: "answers",
      name: `heap after ${what} came word by word, against opened`,
      unit: "MB",
      values: [least(({ writtenMb }) => writtenMb)],
      reference: [least(({ openedMb }) => openedMb)],
    },
  ];
}
