/**
 * `npm run mutate [-- <part of a path>…] [--sample <number>]`: changes the sources of tests.json a little, one change at a time,
 * and runs the tests that stand beside them there. A change that no test notices survived.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHash, randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLog } from "../src/protocol/base/log.ts";
import { createTimetable } from "../src/run/engine/timetable.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { type Mutant, mutantsOf, root } from "./mutants.ts";
import { measure, type Reached, runTests, type Surroundings } from "./run-tests.ts";

const leastKilled = 0.95;
const maxEquivalent = 0.1;
const { values, positionals } = parseArgs({
  options: { sample: { type: "string" }, jobs: { type: "string" } },
  allowPositionals: true,
});
const jobs = Number(values.jobs ?? availableParallelism());
const seed = process.env["COLLOQUY_TEST_SEED"] ?? String(randomInt(2 ** 32));
const read = <Value>(name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8")) as Value;
/** Of each source the test files that concern it: the one that notices most for its time comes first. */
const table = read<Record<string, readonly string[]>>("tests.json");
/** Mutants that do what the source does, by their file and name, each with the reason. */
const equivalent = read<Record<string, Record<string, string>>>("equivalent.json");

const sources = Object.keys(table).filter(
  (file) => positionals.length === 0 || positionals.some((part) => file.includes(part)),
);
const all = sources.flatMap(mutantsOf);
const isEquivalent = ({ file, name }: Mutant) => equivalent[file]?.[name] !== undefined;
const problems = sources.flatMap((file) =>
  Object.keys(equivalent[file] ?? {})
    .filter((name) => !all.some((mutant) => mutant.file === file && mutant.name === name))
    .map((name) => `equivalent.json: ${file} has no mutant “${name}” any more.`),
);
const judged = all.filter((mutant) => !isEquivalent(mutant));
if (all.length - judged.length > maxEquivalent * all.length)
  problems.push(`equivalent.json: ${all.length - judged.length} of ${all.length} mutants are too many.`);

if (values.sample !== undefined) console.log(`COLLOQUY_TEST_SEED=${seed}`);
const picked = values.sample === undefined ? judged : pick(judged, Number(values.sample));
console.log(
  `${all.length} mutants of ${sources.length} files, ${all.length - judged.length} equivalent; ${picked.length} are tried`,
);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
const folder = mkdtempSync(join(tmpdir(), "colloquy-mutation-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const postgres = await startPostgres();
const surroundings: Surroundings = { folder, env: { ...process.env, ...postgres.env, COLLOQUY_TEST_SEED: seed } };

const reached = values.sample === undefined ? await measureAll() : new Map<string, Reached>();
const survivors: Mutant[] = [];
let done = 0;
await inParallel(picked, async (mutant) => {
  const began = performance.now();
  const by = await killerOf(mutant);
  if (by === undefined) survivors.push(mutant);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${++done}/${picked.length} ${seconds} s ${by ?? "SURVIVED"} ${mutant.file}:${mutant.line} ${mutant.name}`,
  );
});
postgres.stop();
report();

function pick(mutants: readonly Mutant[], most: number): readonly Mutant[] {
  const lotOf = ({ file, name }: Mutant) => createHash("sha256").update(`${seed} ${file} ${name}`).digest("hex");
  const lots = new Map(mutants.map((mutant) => [mutant, lotOf(mutant)]));
  return mutants.toSorted((one, other) => (lots.get(one)! < lots.get(other)! ? -1 : 1)).slice(0, most);
}

/** The test file that notices it. */
async function killerOf({ file, start, end, text, reachedAt = start }: Mutant): Promise<string | undefined> {
  const mutant = { path: join(root, file), start, end, text };
  for (const tests of table[file]!) {
    const known = reached.get(tests);
    if (known && !known.reaches(file, reachedAt)) continue;
    const timeoutMs = known ? 20_000 + known.seconds * 4000 : 60_000;
    const outcome = await runTests(tests, surroundings, { mutant, timeoutMs });
    if (outcome !== "passed") return outcome === "late" ? `${tests} (time-out)` : tests;
  }
  return undefined;
}

async function measureAll(): Promise<Map<string, Reached>> {
  const found = new Map<string, Reached>();
  await inParallel([...new Set(sources.flatMap((file) => table[file]!))], async (tests) => {
    const one = await measure(tests, surroundings);
    if (one) found.set(tests, one);
    else problems.push(`${tests} fails without any change.`);
    console.log(`${tests}: ${one ? `${one.seconds.toFixed(1)} s` : "fails"}`);
  });
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exit(1);
  }
  return found;
}

async function inParallel<Value>(things: readonly Value[], work: (thing: Value) => Promise<void>): Promise<void> {
  const queue = [...things];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

/** Locks show on PostgreSQL only, and one server for all makes its databases faster than PGlite starts. */
async function startPostgres() {
  const server = spawn(process.execPath, [join(root, "test", "shared-postgres.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await Promise.race([once(server.stdout, "data"), once(server, "exit")])) as [unknown];
  const url = String(line).trim();
  if (!url.startsWith("postgres:")) throw new Error("PostgreSQL's server programs are needed.");
  // Each new database is a copy of this one: its tables are there already.
  const template = new URL(url);
  template.pathname = "/template1";
  await makeTables(template.href);
  return { env: { COLLOQUY_TEST_POSTGRES: url }, stop: () => server.stdin.end() };
}

async function makeTables(url: string): Promise<void> {
  const database = await openDatabase({ url, dataDirectory: folder });
  await migrate(database);
  const timetable = await createTimetable({ database, log: silentLog });
  await timetable.stop();
  await database.close();
}

function report(): void {
  const percent = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  console.log("");
  for (const { file, line, name } of survivors.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line))
    console.log(`survived: ${file}:${line} ${name}`);
  console.log("");
  for (const file of sources) {
    const tried = picked.filter((mutant) => mutant.file === file).length;
    const left = survivors.filter((mutant) => mutant.file === file).length;
    if (tried > 0) console.log(`${percent(tried - left, tried).padStart(8)}  ${tried - left} of ${tried}  ${file}`);
  }
  const killed = picked.length - survivors.length;
  console.log(`${percent(killed, picked.length).padStart(8)}  ${killed} of ${picked.length}  altogether`);
  for (const problem of problems) console.error(problem);
  process.exitCode = killed < leastKilled * picked.length || problems.length > 0 ? 1 : 0;
}
