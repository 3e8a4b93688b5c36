import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import type { Place } from "./databases.ts";
import type { Finished } from "./finish-fixed-run.ts";
import { answerText, startFixedRuns } from "./fixed-run.ts";
import { skipDatabase } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";

const program = join(import.meta.dirname, "run-until-point.ts");
const finisher = join(import.meta.dirname, "finish-fixed-run.ts");

/** Makes copies of a database in which a node was once started: the fixed run begins at once in each. */
type Copies = { open(): Promise<void>; next(): Promise<Place>; close(): Promise<void> };

/** Two at a time: most of each is starting up. */
const workers = 2;

for (const [kind, copies] of [
  ["pglite", pgliteCopies()],
  ["postgres", postgresCopies()],
] as const) {
  describe(`killed at every write, on ${kind}`, { skip: skipDatabase(kind) }, () => {
    const outside = startOutside();
    before(async () => {
      await Promise.all([outside.open(), copies.open()]);
    });
    after(async () => {
      outside.close();
      await copies.close();
    });

    /** Undefined: it was killed at the point, as wanted; else the points it passed. */
    async function runUntil(place: Place, point?: string): Promise<readonly string[] | undefined> {
      const child = spawn(process.execPath, [program, JSON.stringify({ place, outside: outside.url(place), point })], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
      if (signal === "SIGKILL") return undefined;
      assert.equal(code, 0);
      return JSON.parse(output) as string[];
    }

    test("the run is finished by the next process, and nothing of it is done twice", { timeout: 900_000 }, async () => {
      const points = await runUntil(await copies.next());
      assert(points && points.length > 40, `only ${points?.length} points were seen`);
      const left = [...points];
      const work = async () => {
        for (let point = left.shift(); point; point = left.shift()) {
          const place = await killedAt(point);
          await assertFinished(place, point);
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
    });

    /** A poll may come between and fetch once more or less, so a point is not always there. */
    async function killedAt(point: string): Promise<Place> {
      for (let tries = 1; tries <= 3; tries++) {
        const place = await copies.next();
        if ((await runUntil(place, point)) === undefined) return place;
      }
      throw new Error(`The run never came to this point again: ${point}`);
    }

    /** In a process of its own too, as after a real crash. */
    async function assertFinished(place: Place, point: string): Promise<void> {
      const output = await run(finisher, { place, outside: outside.url(place) });
      const { committed, asked, broken, ...finished } = JSON.parse(output) as Finished;
      assert.equal(asked, 3 - committed, `a committed step was asked again: ${point}`);
      const expected = { run: { status: "done", error: null }, items: expectedItems, text: answerText, tasks: 1 };
      assert.deepEqual(finished, expected, point);
      assert.equal(outside.keys(place).size, 1, `effects outside: ${point}`);
      assert.deepEqual(broken, [], point);
    }
  });
}

/** What the program prints. */
async function run(file: string, input: unknown): Promise<string> {
  const child = spawn(process.execPath, [file, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(code, 0);
  return output;
}

const expectedItems = [
  "message",
  "message 1",
  "call 1.0",
  "call 1.1",
  "result 1.0",
  "result 1.1",
  "message 2",
  "call 2.0",
  "question 2.0",
  "state run-wait",
  "decision",
  "result 2.0",
  "message 3",
  "state run-end",
];

/** Has an effect for each new key; a path for each place. */
function startOutside() {
  const seen = new Map<string, Set<string>>();
  const server = createServer((request, response) => {
    const keys = seen.get(request.url!) ?? new Set();
    seen.set(request.url!, keys.add(String(request.headers["idempotency-key"])));
    response.end();
  });
  const pathOf = ({ url, dataDirectory }: Place) => "/" + encodeURIComponent(url ?? dataDirectory);
  return {
    async open() {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    },
    url: (place: Place) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathOf(place)}`,
    keys: (place: Place) => seen.get(pathOf(place)) ?? new Set(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function startedOnce(place: Place): Promise<void> {
  const database = await openDatabase(place);
  await migrate(database);
  const service = await startFixedRuns(database, "http://127.0.0.1:1");
  await service.stop(0);
  await database.close();
}

function pgliteCopies(): Copies {
  let first: string;
  return {
    async open() {
      first = await freshDataDirectory();
      await startedOnce({ dataDirectory: first });
    },
    async next() {
      const dataDirectory = temporaryFolder("data");
      cpSync(join(first, "db"), join(dataDirectory, "db"), { recursive: true });
      return { dataDirectory };
    },
    async close() {},
  };
}

function postgresCopies(): Copies {
  let server: PostgresServer;
  let client: pg.Client;
  let first: string;
  let made = 0;
  return {
    async open() {
      server = await startPostgres();
      first = await server.createDatabase();
      await startedOnce({ url: first, dataDirectory: temporaryFolder("data") });
      client = new pg.Client(server.url);
      await client.connect();
    },
    async next() {
      const name = `copy_${++made}`;
      await client.query(`create database ${name} template ${new URL(first).pathname.slice(1)}`);
      const url = new URL(first);
      url.pathname = `/${name}`;
      return { url: url.href, dataDirectory: temporaryFolder("data") };
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}
