import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "./pglite.ts";
import { startPostgres } from "./postgres.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const cli = join(import.meta.dirname, "../src/cli.ts");

export type Worker = { readonly worker: number; readonly node: string; readonly pid: number };

export type Answered = { readonly status: number; readonly body: string };
/** Requests over one connection, which one worker answers. */
export type OneConnection = {
  readonly node: string;
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  close(): void;
};

export type ServedWorkers = ServerProcess & {
  /** All that have served, oldest first. */
  readonly workers: () => readonly Worker[];
  /** Resolves once so many have begun to serve. */
  readonly served: (count: number) => Promise<readonly Worker[]>;
  /** A connection to the worker of this node. */
  readonly connect: (node: string) => Promise<OneConnection>;
  /** What a command of another terminal says, in the same folder; with the server's `DATABASE_URL` or without. */
  readonly command: (word: string, given: { readonly knowsDatabase: boolean }) => Promise<string>;
  /** How often the model was asked so far. */
  readonly modelRequests: () => number;
};

type Options = {
  readonly count: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The model's first answer never ends. */
  readonly hangs?: boolean;
  readonly after: (end: () => unknown) => void;
};

/** `colloquy serve` with several workers, on a database of its own, with a model that says `hello`. */
export async function serveWorkers({ count, env = {}, hangs = false, after }: Options): Promise<ServedWorkers> {
  const postgres = await startPostgres();
  after(() => postgres.stop());
  let asked = 0;
  const model = createServer((incoming, response) => {
    if (!incoming.url!.endsWith("/chat/completions")) return void response.writeHead(404).end();
    asked += 1;
    const isEndless = hangs && asked === 1;
    incoming.resume().on("end", () => answer(response, isEndless));
  }).listen(0, "127.0.0.1");
  await once(model, "listening");
  after(() => model.close().closeAllConnections());
  const cwd = temporaryFolder("workers");
  const { port } = model.address() as AddressInfo;
  const models = [{ id: "default", provider: "openai", model: "small", baseUrl: `http://127.0.0.1:${port}/v1` }];
  writeFileSync(join(cwd, "colloquy.yaml"), JSON.stringify({ models }));
  const settings = { DATABASE_URL: await postgres.createDatabase(), COLLOQUY_WORKERS: String(count), ...env };
  const server = await startServerProcess({ cwd, env: settings });
  after(() => server.end("SIGTERM"));

  const workers = () =>
    [...server.output().matchAll(/^\{.*"msg":"this worker serves"\}$/gm)].map(([line]) => JSON.parse(line) as Worker);
  return {
    ...server,
    workers,
    served: async (most) => {
      await until(() => workers().length >= most, server.output);
      return workers();
    },
    connect: (node) => connectTo(server.url, node),
    command(word, { knowsDatabase }) {
      const { DATABASE_URL } = settings;
      const env = { PATH: process.env["PATH"] ?? "", COLLOQUY_PROBE: "false", ...(knowsDatabase && { DATABASE_URL }) };
      return new Promise((resolve) => {
        execFile(process.execPath, [cli, word], { cwd, env }, (_error, stdout, stderr) => resolve(stdout + stderr));
      });
    },
    modelRequests: () => asked,
  };
}

function answer(response: ServerResponse, isEndless: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish: string | null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  chunk({ role: "assistant", content: isEndless ? "begun" : "hello" }, null);
  if (isEndless) return;
  chunk({}, "stop");
  response.end("data: [DONE]\n\n");
}

/** Connections are given to the workers in turn, so that the wanted one comes soon. */
async function connectTo(url: string, node: string): Promise<OneConnection> {
  for (let tries = 0; tries < 50; tries++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask: OneConnection["ask"] = (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const json = body === undefined ? {} : { "content-type": "application/json" };
        const sent = request(new URL(path, url), { agent, method, headers: { ...json, ...headers } }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (data: string) => (text += data));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
          response.on("error", reject);
        });
        sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
      });
    const { body } = await ask("GET", "/health?verbose=true", undefined);
    if ((JSON.parse(body) as { node?: string }).node === node) return { node, ask, close: () => agent.destroy() };
    agent.destroy();
  }
  assert.fail(`no connection came to node ${node}`);
}

export async function until(condition: () => boolean | Promise<boolean>, told: () => string): Promise<void> {
  for (const end = Date.now() + 60_000; !(await condition()); await sleep(50))
    if (Date.now() > end) assert.fail(`did not happen within a minute:\n${told().slice(-3000)}`);
}

/** Whether a process with this number is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
