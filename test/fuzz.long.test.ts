import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { request as send } from "node:http";
import { type TestContext, test } from "node:test";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type ApiDocument, nobody } from "./fuzz/api-document.ts";
import { createFuzzer, diceOf, type FuzzedRequest } from "./fuzz/fuzzed-requests.ts";
import { letNothingOut } from "./no-way-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const seed = Number(process.env["COLLOQUY_FUZZ_SEED"] ?? randomInt(1_000_000));
const each = Number(process.env["COLLOQUY_FUZZ_REQUESTS"] ?? 1600);
const atOnce = 8;
/** The document has a megabyte. */
const maxKept = 8_000_000;
/** No answer is that long in coming, but for those that wait for something to happen. */
const silenceMs = 20_000;
const root = new URL("..", import.meta.url).pathname;

type Answer = { readonly status: number; readonly type: string; readonly text: string };

/** The beginning of an event stream, all of anything else. */
function ask(url: string, { method, path, headers, body }: FuzzedRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // As it is written: `fetch` would put paths and headers right.
    const { hostname, port } = new URL(url);
    // Of a DELETE Node.js would not say how long its body is.
    const framed = body === undefined ? headers : { ...headers, "content-length": body.length };
    const asked = send({ hostname, port, method, path, headers: framed, agent: false }, (response) => {
      const type = response.headers["content-type"] ?? "";
      const done = (text: string) => resolve({ status: response.statusCode!, type, text });
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        if (text.length < maxKept) text += piece;
      });
      response.once("end", () => done(text)).once("error", () => done(text));
      if (type.startsWith("text/event-stream")) {
        done("");
        asked.destroy();
      }
    });
    asked.setTimeout(silenceMs, () => asked.destroy(new Error("There was no answer.")));
    asked.once("error", reject);
    asked.end(body);
  });
}

/** What no answer may be, or hold. */
function faultOf({ status, text }: Answer, secrets: readonly string[]): string | undefined {
  // 501 and 503 say why; 502 and 504 are of a provider or server that somebody named.
  if (status >= 500 && ![501, 502, 503, 504].includes(status)) return `it answered ${status}`;
  if (status < 400) return undefined;
  if (status >= 500 && !/"(?:message|error)":"[^"]{10}/.test(text)) return `its ${status} has no reason`;
  if (/\n\s+at |node:internal|node_modules|\.ts:\d+/.test(text)) return "it shows a stack";
  if (/\b(insert into|violates|syntax error at|select \w+.* from) /i.test(text)) return "it shows SQL";
  const secret = secrets.find((one) => text.includes(one));
  return secret === undefined ? undefined : `it shows ${secret}`;
}

function curlOf(url: string, { method, path, headers, body }: FuzzedRequest): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;
  const shown = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const curl = ["curl", "-g", "-X", method, ...shown, quoted(url + path)].join(" ");
  return body === undefined ? curl : `echo ${body.toString("base64")} | base64 -d | ${curl} --data-binary @-`;
}

async function start(context: TestContext, mode: "accounts" | "local", errors: string[]): Promise<[Colloquy, string]> {
  const data = await freshDataDirectory();
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: data,
    COLLOQUY_AUTH__MODE: mode,
    COLLOQUY_AUTH__REQUESTS_PER_MINUTE: "0",
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  const note = (fields: object, text: string) => {
    const { err } = fields as { readonly err?: unknown };
    errors.push(`${text} ${err instanceof Error ? err.stack : JSON.stringify(fields)}`);
  };
  const server = await startColloquy(loadConfig({ env, cwd: temporaryFolder("fuzz") }), {
    log: { ...silentLog, error: note },
  });
  context.after(() => server.stop());
  return [server, data];
}

/** Ids of things that are there, of each kind. */
async function makeThings(make: (path: string, body: object) => Promise<{ id?: unknown; key?: { id: string } }>) {
  const thread = await make("/api/threads", {});
  const made = [
    thread,
    await make(`/api/threads/${String(thread.id)}/runs`, { agent: "assistant", message: { content: "hi" } }),
    await make("/api/schedules", { agent: "assistant", prompt: "hi", every: "1d" }),
    await make("/api/tasks", { title: "mine" }),
    await make("/api/rooms", { kind: "analysis" }),
    await make("/api/rag/collections", { name: "mine", embeddingModel: "none" }),
  ];
  const [threads = nobody, runs = nobody, schedules = nobody, tasks = "1", rooms = nobody, collections = nobody] =
    made.map(({ id }) => String(id));
  return { threads, runs, schedules, tasks, rooms, collections, agents: "assistant", tools: "now", nobody };
}

async function fuzz(context: TestContext, mode: "accounts" | "local"): Promise<void> {
  letNothingOut(context);
  context.diagnostic(`COLLOQUY_FUZZ_SEED=${seed}`);
  const errors: string[] = [];
  const [{ url, token }, data] = await start(context, mode, errors);
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const json = async <Value>(key: string, path: string, body: object): Promise<Value> => {
    const headers = { "content-type": "application/json", ...bearer(key) };
    const answer = await ask(url, { method: "POST", path, headers, body: Buffer.from(JSON.stringify(body)) });
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return JSON.parse(answer.text) as Value;
  };
  const user = mode === "local" ? token : (await json<{ key: string }>(token, "/api/admin/users", { name: "ann" })).key;
  const things = await makeThings((path, body) => json(user, path, body));
  const document = JSON.parse(
    (await ask(url, { method: "GET", path: "/openapi.json", headers: {} })).text,
  ) as ApiDocument;
  const dice = diceOf(seed);
  const next = createFuzzer(document, { things, dice });
  const credentials = [user, user, user, user, token, token, "ck_wrong"].map(bearer);

  const faults: string[] = [];
  let left = each;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        const made = next();
        const credential = credentials[Math.floor(dice() * (credentials.length + 1))] ?? {};
        const asked = { ...made, headers: { ...made.headers, ...credential } };
        const answer = await ask(url, asked).catch((error: Error) => error);
        const fault = answer instanceof Error ? answer.message : faultOf(answer, [data, root]);
        if (fault === undefined) continue;
        const shown = answer instanceof Error ? "" : answer.text.slice(0, 300);
        faults.push(`${fault}: ${shown}\n${curlOf(url, asked)}`);
      }
    }),
  );
  const about = `COLLOQUY_FUZZ_SEED=${seed}`;
  assert.deepEqual(faults.slice(0, 20), [], about);
  assert.deepEqual(errors, [], about);
  assert.equal((await ask(url, { method: "GET", path: "/health", headers: {} })).status, 200);
  await json(token, "/api/threads", {});
}

test("nothing that a fuzzer sends is an error of the server, with accounts", { timeout: 120_000 }, (context) =>
  fuzz(context, "accounts"),
);
test("nothing that a fuzzer sends is an error of the server, without", { timeout: 120_000 }, (context) =>
  fuzz(context, "local"),
);
