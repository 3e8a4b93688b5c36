import { existsSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type PGlite, messages, parse, protocol } from "@electric-sql/pglite";
import { makeDatabase } from "./new-database.ts";
import { startPGlite } from "./pglite-engine.ts";
import type { WireError, WireValue, WorkerAnswer, WorkerData, WorkerRequest, WorkerResult } from "./pglite-protocol.ts";
import { makeDatabasePrivate } from "./private-files.ts";

type QueryRequest = { readonly text: string; readonly values: readonly WireValue[]; readonly name?: string };

const { directory, prepared: begin, syncs } = workerData as WorkerData;
const counter = new Int32Array(syncs);
const port = parentPort!;

function post(answer: WorkerAnswer): void {
  port.postMessage(answer);
}

/** The names of what is prepared. */
const prepared = new Set<string>();

/** One message to PostgreSQL, one answer: PGlite's own `query` crosses into WASM five times. */
function encode({ text, values, name }: QueryRequest): Uint8Array {
  const { serialize } = protocol;
  if (values.length === 0) return serialize.query(text);
  const run = [
    serialize.bind({ statement: name, values: values as WireValue[] }),
    serialize.describe({ type: "P" }),
    serialize.execute({}),
    serialize.sync(),
  ];
  if (name === undefined) return Buffer.concat([serialize.parse({ text }), ...run]);
  if (prepared.has(name)) return Buffer.concat(run);
  // A failed execution leaves it prepared without our noting it; closing what is not there is no error.
  return Buffer.concat([serialize.close({ type: "S", name }), serialize.parse({ name, text }), ...run]);
}

async function run(pglite: PGlite, request: QueryRequest): Promise<WorkerResult> {
  const answer = await pglite.execProtocolStream(encode(request), { syncToFs: false });
  if (answer.at(-1)?.name !== "readyForQuery") throw new Error("PostgreSQL broke off in the middle of its answer.");
  if (request.name !== undefined) prepared.add(request.name);
  const results = parse.parseResults(answer, pglite.parsers);
  const last = results.at(-1);
  return {
    rows: results.length === 1 ? results[0]!.rows : results.flatMap((result) => result.rows),
    command: last?.command ?? "",
  };
}

async function answer(pglite: PGlite, request: WorkerRequest): Promise<void> {
  if (request.kind === "close") {
    await pglite.close();
    post({ kind: "result", id: request.id, result: { rows: [], command: "" } });
    port.close();
    return;
  }
  try {
    post({ kind: "result", id: request.id, result: await run(pglite, request) });
  } catch (error) {
    // Anything but an answer of PostgreSQL is a crash of the WASM machine, whose state is unknown from here on.
    if (!(error instanceof messages.DatabaseError) || error.severity === "PANIC" || error.severity === "FATAL")
      throw error;
    if (request.loose && pglite.isInTransaction()) await run(pglite, { text: "rollback", values: [] });
    post({ kind: "failure", id: request.id, error: toWire(error) });
  }
}

function toWire(error: messages.DatabaseError): WireError {
  const { message, severity, code, detail, hint, where, schema, table, column, constraint, position } = error;
  return { message, severity, code, detail, hint, where, schema, table, column, constraint, position };
}

async function main(): Promise<void> {
  if (!existsSync(directory)) {
    post({ kind: "step", text: "creating the database (first start, a few seconds)" });
    makeDatabase(directory, begin);
  }
  makeDatabasePrivate(directory);
  const pglite = await startPGlite(directory, () => Atomics.add(counter, 0, 1));
  pglite.onNotification((channel, payload) => post({ kind: "notification", channel, payload }));
  post({ kind: "ready" });

  let last = Promise.resolve();
  port.on("message", (request: WorkerRequest) => {
    last = last.then(() => answer(pglite, request)).catch(end);
  });
}

function end(error: unknown): void {
  post({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

main().catch(end);
