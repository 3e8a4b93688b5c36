import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type SeenRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
};

export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Never says anything. */
  | "silent"
  /** Says `results` and then gigabytes of nothing. */
  | "endless";

export type SearchServer = {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Taken one for each request, before it answers as it should. */
  readonly faults: Fault[];
  /** What it finds. */
  found: readonly object[];
  /** Bytes that were taken from an endless answer. */
  readonly sent: () => number;
  readonly close: () => Promise<void>;
};

type Wire = {
  /** The right key; undefined: it wants none. */
  readonly keyOf: (headers: IncomingMessage["headers"]) => boolean;
  readonly denied: { readonly status: number; readonly body: object };
  readonly answer: (request: SeenRequest, found: readonly object[]) => object;
};

const wires = {
  tavily: {
    keyOf: (headers) => headers.authorization === "Bearer tvly-right",
    denied: { status: 401, body: { detail: { error: "Unauthorized: missing or invalid API key." } } },
    answer: ({ body }, results) => ({
      query: (body as { query: string }).query,
      answer: null,
      images: [],
      results,
      response_time: 0.8,
      request_id: "a-request",
    }),
  },
  searxng: {
    keyOf: () => true,
    denied: { status: 403, body: {} },
    answer: ({ url }, results) => ({
      query: url.searchParams.get("q"),
      results,
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines:
        results.length === 0
          ? [
              ["duckduckgo", "CAPTCHA"],
              ["brave", "timeout"],
            ]
          : [],
    }),
  },
  brave: {
    keyOf: (headers) => headers["x-subscription-token"] === "brave-right",
    denied: {
      status: 422,
      body: {
        type: "ErrorResponse",
        error: { status: 422, code: "SUBSCRIPTION_TOKEN_INVALID", detail: "The token is invalid." },
      },
    },
    answer: ({ url }, results) => ({
      type: "search",
      query: { original: url.searchParams.get("q"), more_results_available: true },
      web: { type: "search", results },
    }),
  },
} satisfies Record<string, Wire>;

/** A server that speaks a search provider's wire, with its faults. */
export async function startSearchServer(kind: keyof typeof wires): Promise<SearchServer> {
  const { keyOf, denied, answer }: Wire = wires[kind];
  const requests: SeenRequest[] = [];
  const faults: Fault[] = [];
  let sent = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given = await text(request);
    const seen: SeenRequest = {
      method: request.method!,
      url: new URL(request.url!, "http://here"),
      headers: request.headers,
      body: given === "" ? undefined : JSON.parse(given),
    };
    requests.push(seen);
    const json = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const fault = faults.shift();
    if (fault === "silent") return;
    if (fault === "endless") return endless(response, (bytes) => (sent += bytes));
    if (fault) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    if (!keyOf(request.headers)) return void json(denied.status, denied.body);
    json(200, answer(seen, server.found));
  };
  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const server: SearchServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    faults,
    found: [],
    sent: () => sent,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return server;
}

/** A gigabyte, as fast as it is taken, until whoever asked hangs up. */
export function endless(response: ServerResponse, count: (bytes: number) => void): void {
  const piece = Buffer.alloc(64 * 1024, " ");
  let left = 1024 ** 3;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      count(piece.length);
      if (!response.write(piece)) return void response.once("drain", more);
    }
    response.end();
  };
  response.writeHead(200, { "content-type": "application/json" }).write('{"results":[');
  more();
}
