import { existsSync } from "node:fs";
import { join } from "node:path";
import cluster, { type Worker } from "node:cluster";
import { styleText } from "node:util";
import { giveBackMemoryWhenIdle } from "./idle-memory.ts";
import { stopSignal } from "./stop-signal.ts";
import type { Config } from "../config/schema.ts";
import { createLog } from "../app/log.ts";
import { sandboxLine } from "../app/sandbox.ts";
import type { ModelChoice } from "../models/discovery/choose.ts";
import { openBrowser, openLink } from "./open.ts";
import { startColloquy, type Colloquy } from "../main.ts";
import { newId } from "../protocol/base/ids.ts";
import { version } from "../protocol/base/version.ts";

/** Stop takes at most the grace for running steps and this. */
const exitWithinMs = 16_000;

/** Serves until SIGINT or SIGTERM; as one of several workers, also until the process that watches over them is gone. */
export async function serve(config: Config): Promise<number> {
  const { worker } = cluster;
  const node = newId();
  const isWatched = process.stderr.isTTY;
  const log = createLog({
    ...{ level: config.log.level, pretty: isWatched },
    ...(worker && { of: { worker: worker.id, node } }),
  });
  // Of several workers the first one tells people what they serve, once.
  const tells = worker === undefined || worker.id === 1;
  if (tells) console.log(`${styleText("bold", "Colloquy")} ${version}`);
  if (tells) line("data", config.data);
  const onFatal = (error: Error) => {
    log.fatal({ error: error.message }, "lost the database; restart to continue accepted work");
    process.exit(1);
  };
  const orphaned = worker && watcherGone(worker);
  const colloquy = await startColloquy(config, {
    ...{ log, node, onFatal, quiet: isWatched },
    ...(tells && { onStep: (text: string) => line("database", `${text} …`) }),
  });
  giveBackMemoryWhenIdle();
  // At once: what is told below takes a while, and requests are answered already.
  const stopping = stopSignal();
  if (tells) await welcome(colloquy, config);
  if (worker) log.info({ url: colloquy.url }, "this worker serves");

  const signal = await Promise.race([stopping, ...(orphaned ? [orphaned] : [])]);
  log.info({ signal }, "stopping: running steps may finish; the rest continues at the next start");
  setTimeout(() => process.exit(1), exitWithinMs).unref();
  // A process that ends while others stop at its wish is in a hurry.
  if (worker && signal !== "disconnect") process.once("disconnect", () => process.exit(1));
  await colloquy.stop();
  return 0;
}

/** Resolves when the process that watches over this worker is gone, which Node.js would take for a reason to end at once. */
function watcherGone(worker: Worker): Promise<"disconnect"> {
  worker.exitedAfterDisconnect = true;
  return new Promise((resolve) => void process.once("disconnect", () => resolve("disconnect")));
}

async function welcome(colloquy: Colloquy, config: Config): Promise<void> {
  const isTried = colloquy.sandbox.known() !== undefined;
  await report(colloquy, config, isTried);
  const setup = await colloquy.setupLink();
  if (setup !== undefined)
    line("set-up", `${styleText("bold", setup)}  (creates the first admin account; works once, for one day)`);
  await offerLink(colloquy, config);
  if (!isTried) void reportSandbox(colloquy);
}

/** Where the system can't tell whose a browser is, it shows a code. A log is no place for one. */
async function offerLink({ codeMaker, url }: Colloquy, config: Config): Promise<void> {
  const makeCode = await codeMaker();
  if (!makeCode) return;
  if (!process.stdout.isTTY)
    return line("open", "run `./colloquy open` for a link that lets a browser manage this server");
  const link = openLink(config, url, await makeCode());
  line("open", `${styleText("bold", link)}  (lets one browser manage this server; works once, for ten minutes)`);
  openBrowser(config, link);
}

async function report(colloquy: Colloquy, config: Config, isSandboxTried: boolean): Promise<void> {
  const { url, ollamaUrl, database, choice, problems } = colloquy;
  line(
    "database",
    database.kind === "pglite" ? `PGlite, embedded in ${database.label}` : `PostgreSQL, ${database.label}`,
  );
  if (database.kind !== "pglite" && existsSync(join(config.data, "db")))
    line(
      "note",
      `${join(config.data, "db")} holds an embedded database, which is not used now (stop this server, and ./colloquy export without DATABASE_URL moves it)`,
    );
  for (const probe of choice.probes) line(probe.kind, `${probe.url}: ${probe.detail}`);
  const unused = config.seenKeys.filter((name) => !usesVariable(config, name));
  if (unused.length > 0)
    line(
      "keys",
      `${unused.join(", ")} found, but not used: they cost money, so a model in colloquy.yaml must name them`,
    );
  const isSeen = choice.probes.some(({ outcome }) => outcome === "found");
  const seen = isSeen ? "" : " (not tested yet; `./colloquy doctor` tests it)";
  line("model", choice.demo ? `${choice.detail}. ${adviceOn(choice)}, for real answers` : `${choice.detail}${seen}`);
  for (const problem of problems) line("problem", problem);
  if (isSandboxTried) await reportSandbox(colloquy);
  if (config.workers > 1)
    line("workers", `${config.workers} processes, each a node with ${config.database.connections} connections`);
  line("listening", `${styleText("bold", url)}  (API: ${url}/docs)`);
  if (ollamaUrl !== undefined) line("", `${ollamaUrl}  (for clients of Ollama)`);
}

/** With the demo as `default` though there are others, an admin wanted it so. */
function adviceOn({ models }: ModelChoice): string {
  const others = models.filter(({ id }) => id !== "default" && id !== "demo").length;
  if (others === 0) return "Start Ollama, or name a model in colloquy.yaml";
  return `Choose ${others === 1 ? "the other model" : `one of ${others} others`} in Administration → Models`;
}

/** A container takes a while to try; who listens already is told later. */
async function reportSandbox({ sandbox }: Colloquy): Promise<void> {
  const state = await sandbox.state();
  line("sandbox", sandboxLine(state));
  for (const gap of state.gaps) line("", gap);
  for (const problem of await sandbox.unmet()) line("problem", problem);
}

function usesVariable(config: Config, name: string): boolean {
  return (
    config.models.some((model) => "apiKey" in model && model.apiKey !== undefined) &&
    [...config.source.values()].some((source) => source.includes(name))
  );
}

function line(name: string, text: string): void {
  console.log(`  ${styleText("dim", name.padEnd(10))} ${text}`);
}
