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
import { answerText, startFixedRuns, stopMidway, type Story } from "./fixed-run.ts";
import { skipDatabase } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { sampled } from "./sampled.ts";
import type { Input, Output, Told } from "./run-until-point.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";

const program = join(import.meta.dirname, "run-until-point.ts");

/** Databases in which a node was once started, where the story begins at once; `used`: one that nobody needs any more. */
type Copies = { open(): Promise<void>; next(story: Story, used?: Place): Promise<Place>; close(): Promise<void> };

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

    async function told(story: Story, used?: Place): Promise<Told> {
      return { story, place: await copies.next(story, used), outside: outside.url() };
    }

    for (const [story, name, least] of [
      ["begun", "the run is finished by the next process, and nothing of it is done twice", 30],
      ["resumed", "a stopped run that is resumed goes on or stays as it was, and nothing of it is done twice", 20],
    ] as const)
      test(name, { timeout: 900_000 }, async () => {
        const { points } = await goOn({ next: await told(story) });
        assert(points && points.length > least, `only ${points?.length} points were seen`);
        // Once it is resumed it is a run like every other; on PGlite each point takes seconds.
        const end = kind === "pglite" && story === "resumed" ? points.indexOf("after commit #1") + 1 : points.length;
        // All of them take nine minutes.
        const left = [...sampled(points.slice(0, end), kind === "pglite" ? 8 : 20)];
        // Who begins one run has finished the one before, over which another process was killed: half as many have to start.
        const work = async () => {
          let killed: (Told & { readonly point: string }) | undefined;
          for (let point = left.shift(); point; point = left.shift()) killed = await killedAt(story, point, killed);
          if (killed) assertFinished(killed, await goOn({ left: killed }));
        };
        await Promise.all(Array.from({ length: workers }, work));
      });

    /** A poll may come between and fetch once more or less, so a point is not always there. */
    async function killedAt(
      story: Story,
      point: string,
      before: (Told & { readonly point: string }) | undefined,
    ): Promise<Told & { readonly point: string }> {
      let left = before;
      for (let tries = 1; tries <= 3; tries++) {
        const next = { ...(await told(story, left?.place)), point };
        const output = await goOn({ next, ...(left && { left }) });
        if (left) assertFinished(left, output);
        if (!output.points) return next;
        left = undefined;
      }
      throw new Error(`The run never came to this point again: ${point}`);
    }

    function assertFinished({ story, outside: url, point }: Told & { readonly point: string }, output: Outputs): void {
      assert(output.finished, `not finished: ${point}`);
      const { committed, half, asked, broken, ...finished } = output.finished;
      assert.equal(half, 0, `neither ended nor at work: ${point}`);
      assert.equal(asked, 3 - committed, `a committed step was asked again: ${point}`);
      const expected = {
        run: { status: "done", error: null },
        items: expectedItems[story],
        text: answerText,
        tasks: 1,
      };
      assert.deepEqual(finished, expected, point);
      assert.equal(outside.keys(url).size, 1, `effects outside: ${point}`);
      assert.deepEqual(broken, [], point);
    }
  });
}

type Outputs = Partial<Extract<Output, { finished: unknown }> & Extract<Output, { points: unknown }>>;

/** What the program tells before its end; without points it was killed at the one that was asked for. */
async function goOn(input: Input): Promise<Outputs> {
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
  const [lines, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert(code === 0 || signal === "SIGKILL", `the program ended with ${code ?? signal}`);
  return Object.assign(
    {},
    ...lines
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Output),
  );
}

const untilAllowed = [
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
];
const untilDone = ["result 2.0", "message 3", "state run-end"];
const expectedItems: Readonly<Record<Story, readonly string[]>> = {
  begun: [...untilAllowed, ...untilDone],
  resumed: [...untilAllowed, "result 2.0", "state run-end", "state run-resume", "state 2.0 withdrawal", ...untilDone],
};

/** Has an effect for each new key; a path for each story that is told. */
function startOutside() {
  const seen = new Map<string, Set<string>>();
  const server = createServer((request, response) => {
    const keys = seen.get(request.url!) ?? new Set();
    seen.set(request.url!, keys.add(String(request.headers["idempotency-key"])));
    response.end();
  });
  let told = 0;
  return {
    async open() {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    },
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${++told}`,
    keys: (url: string) => seen.get(new URL(url).pathname) ?? new Set(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Of a run that is to be resumed: it is stopped while its request outside has no answer. */
async function startedOnce(place: Place, story: Story): Promise<void> {
  const database = await openDatabase(place);
  await migrate(database);
  const asked = Promise.withResolvers<void>();
  const silent = createServer(() => asked.resolve()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const service = await startFixedRuns(database, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  if (story === "resumed") await stopMidway(service, asked.promise);
  await service.stop(0);
  silent.close();
  silent.closeAllConnections();
  await database.close();
}

const allStories = ["begun", "resumed"] as const;

function pgliteCopies(): Copies {
  const first = new Map<Story, string>();
  return {
    async open() {
      for (const story of allStories) {
        const dataDirectory = await freshDataDirectory();
        await startedOnce({ dataDirectory }, story);
        first.set(story, dataDirectory);
      }
    },
    async next(story, used) {
      // Opening one takes a second: its rows are removed instead.
      if (used && story === "begun") return used;
      const dataDirectory = temporaryFolder("data");
      cpSync(join(first.get(story)!, "db"), join(dataDirectory, "db"), { recursive: true });
      return { dataDirectory };
    },
    async close() {},
  };
}

function postgresCopies(): Copies {
  let server: PostgresServer;
  let client: pg.Client;
  const first = new Map<Story, URL>();
  let made = 0;
  return {
    async open() {
      server = await startPostgres();
      for (const story of allStories) {
        const url = await server.createDatabase();
        await startedOnce({ url, dataDirectory: temporaryFolder("data") }, story);
        first.set(story, new URL(url));
      }
      client = new pg.Client(server.url);
      await client.connect();
    },
    async next(story) {
      const name = `copy_${++made}`;
      const url = new URL(first.get(story)!);
      await client.query(`create database ${name} template ${url.pathname.slice(1)}`);
      url.pathname = `/${name}`;
      return { url: url.href, dataDirectory: temporaryFolder("data") };
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}
