/**
 * A Taiga for tests: real HTTP, all in memory, with faults on demand. README.md says what it does and does not do.
 *
 *     const taiga = await startTaiga();
 *     const { auth_token } = taiga.tokensOf("bruno");
 *     // … point a client at taiga.api
 *     taiga.fail({ method: "POST", path: "/tasks" }, "drop-after");
 *     assert.deepEqual(taiga.state.counts(), { "Export orders": 1 });
 *     await taiga.close();
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./context.ts";
import { TaigaError, throttled } from "./errors.ts";
import { Faults, type Fault, type Match, type Pause, type Which } from "./faults.ts";
import { answerOf, parseBody } from "./process-request.ts";
import { sampleWorld, type Username } from "./sample-data.ts";
import type { SeenRequest } from "./seen-request.ts";
import { TaigaState } from "./state.ts";
import { Throttle, type Rate } from "./throttle.ts";
import { Tokens, type TokenPair } from "./tokens.ts";

export type TaigaOptions = { readonly port?: number; readonly throttle?: Rate };

export type Taiga = {
  readonly url: string;
  /** `${url}/api/v1` */
  readonly api: string;
  readonly port: number;
  readonly state: TaigaState;
  /** As signing in would give them, without a request. */
  tokensOf(username: Username): TokenPair;
  applicationTokenOf(username: Username): string;
  /** Ends the access tokens given out so far, of one person or of all; with `refresh` the refresh tokens too. */
  expireTokens(options?: { readonly username?: Username; readonly refresh?: boolean }): void;
  /** From now on; undefined is no limit. */
  throttle(rate: Rate | undefined): void;
  /** Orders a fault for requests to come: the next one, or those that match. */
  fail(match: Match | "next", fault: Fault, which?: Which): void;
  /** Holds a request, before or after it is done, until the test lets it go. */
  pause(match: Match | "next", options?: { readonly when?: "before" | "after"; readonly skip?: number }): Pause;
  /** Waits for anything that changes with a request's arrival or answer. */
  until(condition: () => boolean): Promise<void>;
  /** Sample data, no faults, no limit, an empty log; tokens stay good. */
  reset(): void;
  close(): Promise<void>;
};

export async function startTaiga(options: TaigaOptions = {}): Promise<Taiga> {
  const state = new TaigaState(sampleWorld());
  const tokens = new Tokens(state.world.users);
  const faults = new Faults();
  const waiting = new Set<() => void>();
  const changed = () => waiting.forEach((check) => check());
  let limit = options.throttle && new Throttle(options.throttle);

  const server = createServer((request, response) => void serve(request, response));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", `http://${headers.host ?? "localhost"}`);
    // A client that leaves in the middle of its request is no failure of ours.
    const content = await text(request).catch(() => undefined);
    if (content === undefined) return;
    const parsed = parseBody(method, headers["content-type"], content);
    const seen: SeenRequest = {
      ...{ method, path: url.pathname.replace(/^\/api\/v1/, ""), query: url.searchParams },
      username: usernameOf(headers.authorization),
      body: parsed instanceof TaigaError ? {} : parsed,
      ...{ status: undefined, effect: false },
    };
    state.requests.push(seen);
    changed();
    const { fault, pause } = faults.take(seen) ?? {};
    const perform = () => answerOf({ state, tokens, limit, url, headers, seen, parsed });
    const answer = pause ? await paused(seen, pause, perform) : await faulty(seen, fault, perform);
    changed();
    if (answer === "drop") response.destroy();
    else send(response, answer);
    changed();
  }

  function usernameOf(authorization: string | undefined): string | undefined {
    try {
      return tokens.userOf(authorization)?.username;
    } catch (error) {
      if (error instanceof TaigaError) return undefined;
      throw error;
    }
  }

  type Perform = () => Answer;

  async function paused(
    seen: SeenRequest,
    { when, reach, over }: NonNullable<NonNullable<ReturnType<Faults["take"]>>["pause"]>,
    perform: Perform,
  ): Promise<Answer | "drop"> {
    const done = when === "after" ? perform() : undefined;
    reach(seen);
    return (await over) === "drop" ? "drop" : (done ?? perform());
  }

  async function faulty(seen: SeenRequest, fault: Fault | undefined, perform: Perform): Promise<Answer | "drop"> {
    if (fault === "drop-before") return "drop";
    if (fault === "drop-after") {
      perform();
      return "drop";
    }
    if (fault === "expired") tokens.expire({ user: state.world.users.find((user) => user.username === seen.username) });
    if (typeof fault !== "object") return perform();
    if (fault.kind === "error") {
      if (fault.after) perform();
      return brokenServer(fault.status ?? 500);
    }
    if (fault.kind === "nonsense") {
      if (fault.after) perform();
      return { status: 200, body: "<h1>Welcome</h1>", headers: { "content-type": "text/html" } };
    }
    if (fault.kind === "throttled") return throttled(fault.seconds ?? 1);
    await sleep(fault.ms);
    return perform();
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const userNamed = (username: Username) => state.user(username);
  return {
    ...{ url, api: `${url}/api/v1`, port, state },
    tokensOf: (username) => tokens.pairFor(userNamed(username)),
    applicationTokenOf: (username) => userNamed(username).applicationToken,
    expireTokens: ({ username, refresh = false } = {}) =>
      tokens.expire({ user: username && userNamed(username), refresh }),
    throttle: (rate) => void (limit = rate && new Throttle(rate)),
    fail: (match, fault, which) => faults.add(match === "next" ? {} : match, fault, which),
    pause: (match, when) => faults.addPause(match === "next" ? {} : match, when),
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    reset: () => {
      faults.clear();
      limit = undefined;
      state.reset(sampleWorld());
    },
    close: async () => {
      faults.clear();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** 500 as Taiga says it; others as the proxy before it would. */
function brokenServer(status: number): Answer {
  if (status === 500) return { status, body: { error: "Server application error" } };
  return { status, body: `<html><body><h1>${status}</h1></body></html>`, headers: { "content-type": "text/html" } };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const type = headers?.["content-type"] ?? "application/json";
  response.writeHead(status, { "content-type": type, ...headers });
  if (status === 204 || body === undefined) response.end();
  else response.end(type === "application/json" ? JSON.stringify(body) : String(body));
}
