import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { startChild } from "./child.ts";
import type { ModelServerStats } from "./model-server.ts";
import { answers } from "./parts/answers.ts";
import { bodies } from "./parts/bodies.ts";
import { crowd } from "./parts/crowd.ts";
import { delegation } from "./parts/delegation.ts";
import { deltas } from "./parts/deltas.ts";
import { dialectCosts } from "./parts/dialects.ts";
import { durable } from "./parts/durable.ts";
import { eventLoop } from "./parts/event-loop.ts";
import { followers } from "./parts/followers.ts";
import { growth } from "./parts/growth.ts";
import { history } from "./parts/history.ts";
import { idle } from "./parts/idle.ts";
import { imports } from "./parts/imports.ts";
import { ingestion } from "./parts/ingestion.ts";
import { ledger } from "./parts/ledger.ts";
import { loop } from "./parts/loop.ts";
import { mcp } from "./parts/mcp.ts";
import { nodes } from "./parts/nodes.ts";
import { mirror } from "./parts/mirror.ts";
import { page } from "./parts/page.ts";
import { passthrough } from "./parts/passthrough.ts";
import { peersPart } from "./parts/peers.ts";
import { retrieval } from "./parts/retrieval.ts";
import { sandbox } from "./parts/sandbox.ts";
import { start } from "./parts/start.ts";
import { tabs } from "./parts/tabs.ts";
import { workers } from "./parts/workers.ts";
import { writePath } from "./parts/write-path.ts";
import type { Bench, Part } from "./part.ts";
import { judge, table, type Row } from "./rows.ts";

const parts: readonly Part[] = [
  passthrough,
  dialectCosts,
  loop,
  durable,
  writePath,
  idle,
  nodes,
  workers,
  deltas,
  followers,
  growth,
  history,
  mirror,
  ledger,
  delegation,
  crowd,
  mcp,
  sandbox,
  eventLoop,
  bodies,
  imports,
  start,
  ingestion,
  retrieval,
  page,
  tabs,
  answers,
];

const usage = `npm run bench [-- <part>… --quick --peers --rounds=5 --markdown]   parts: ${parts.map((part) => part.name).join(" ")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    /** Installs others' servers and libraries, once, and measures them beside ours. */
    peers: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
    /** Of the part `retrieval`: where the Cranfield collection is, and how many chunks are searched. */
    cranfield: { type: "string" },
    chunks: { type: "string", default: "25000" },
    help: { type: "boolean", default: false },
  },
});
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
if (values.help || unknown.length > 0) {
  console.log(usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const modelServer = await startChild("model-server.ts");
const load = await startChild("sse-load.ts");
const bench: Bench = {
  rounds: Number(values.rounds ?? (values.quick ? 1 : 5)),
  quick: values.quick,
  chunks: Number(values.chunks),
  ...(values.cranfield === undefined ? {} : { cranfield: values.cranfield }),
  modelServer,
  modelUrl: await modelServer.call<string>("url"),
  load,
  log: (text) => process.stderr.write(text + "\n"),
};

const rows: Row[] = [];
const failures: string[] = [];
const chosen = parts.filter(({ name }) => (positionals.length === 0 && !values.peers) || positionals.includes(name));
for (const part of values.peers ? [...chosen, peersPart] : chosen) {
  try {
    rows.push(...(await part.run(bench)));
  } catch (error) {
    failures.push(`${part.name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
const stats = await modelServer.call<ModelServerStats>("stats");
if (stats.wrongSums > 0 || stats.refused > 0) failures.push(`model server: ${JSON.stringify(stats)}`);
await Promise.all([modelServer.stop(), load.stop()]);

const date = new Date().toISOString();
const folder = new URL("results/", import.meta.url);
await mkdir(folder, { recursive: true });
const result = { date, node: process.version, rounds: bench.rounds, quick: bench.quick, rows, failures };
await writeFile(new URL(`${date.replaceAll(":", "-")}.json`, folder), JSON.stringify(result, null, 1));

console.log(table(rows, values.markdown ? "markdown" : "text"));
for (const failure of failures) console.error(`FAILED ${failure}`);
const over = rows.filter((row) => judge(row).over);
if (!bench.quick && over.length > 0) console.log(`\n${over.length} over their bar`);
process.exitCode = failures.length > 0 ? 1 : 0;
