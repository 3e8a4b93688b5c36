/**
 * Loaded first into every test process, and by it into the servers it starts: each answer of a Fastify server that has an
 * OpenAPI document is compared with it, as the bytes leave. What differs fails the test file that asked.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ApiDocument, judgeAnswer as Judge, SentAnswer } from "./judge-answer.ts";
import { keptDocument } from "./kept-document.ts";
import { sentHeader, tapAnswer } from "./tap-answer.ts";

const variable = "COLLOQUY_TEST_ANSWERS_FILE";
const { env } = process;
/** Most test processes have no server, and need not wait for what reads schemas. */
const load = createRequire(import.meta.url);
const inherited = env[variable];
/** Where this process and those it starts write what they found. */
const findings = inherited ?? join(tmpdir(), `colloquy-answers-${process.pid}.txt`);

if (isMainThread) {
  env[variable] = findings;
  if (inherited === undefined) process.on("exit", failIfFound);
  subscribe("fastify.initialization", (message) => watch((message as { readonly fastify: FastifyInstance }).fastify));
}

function watch(app: FastifyInstance): void {
  let document: ApiDocument | undefined;
  const routes: string[] = [];
  const seen = new Set<string>();
  app.addHook("onRoute", ({ method, url }) => void routes.push(`${String(method)} ${url}`));
  app.addHook("onRequest", (request, reply, done) => {
    if (isJudged(request)) tapAnswer(reply.raw, judge.bind(undefined, request, reply.raw));
    done();
  });

  function judge(request: FastifyRequest, raw: ServerResponse, body: Buffer | undefined, whole: boolean): void {
    const { method, routeOptions, server } = request;
    // Servers of tests have none.
    if (typeof server.swagger !== "function" || !raw.headersSent) return;
    const contentType = sentHeader(raw, "content-type");
    const sent = { method, route: routeOptions.url, status: raw.statusCode, contentType, body, whole };
    for (const fault of faultsOf(server, sent)) {
      const line = `${method} ${sent.route} answered ${sent.status}, but ${fault}\n`;
      if (!seen.has(line)) appendFileSync(findings, line);
      seen.add(line);
    }
  }

  /** Whoever ends an answer must not be stopped by what is wrong here. */
  function faultsOf(server: FastifyInstance, sent: SentAnswer): string[] {
    try {
      document ??= keptDocument(routes, () => server.swagger());
      const { judgeAnswer } = load("./judge-answer.ts") as { readonly judgeAnswer: typeof Judge };
      return judgeAnswer(document, sent);
    } catch (error) {
      return [`could not be judged: ${String(error)}`];
    }
  }
}

function isJudged({ method }: FastifyRequest): boolean {
  return method !== "HEAD" && method !== "OPTIONS";
}

function failIfFound(): void {
  let found: string;
  try {
    found = readFileSync(findings, "utf8");
  } catch {
    return;
  }
  rmSync(findings);
  const lines = [...new Set(found.split("\n"))].join("\n");
  process.stderr.write(`Answers that are not what /openapi.json says of them:\n${lines}\n`);
  process.exitCode = 1;
}
