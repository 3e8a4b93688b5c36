import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How it answers a `POST`; in each of them the effect has happened, unless it says otherwise. */
export const manners = {
  /** As one should. */
  polite: (response: ServerResponse) => response.end('{"ok":true}'),
  reset: (response: ServerResponse) => response.socket!.resetAndDestroy(),
  silent: () => {},
  nonsense: (response: ServerResponse) => response.end("<html>Welcome to the hotel"),
  half: (response: ServerResponse) => {
    response.writeHead(200, { "content-length": 1000 }).write('{"ok":');
    setImmediate(() => response.socket!.resetAndDestroy());
  },
  broken: (response: ServerResponse) => response.writeHead(500).end("oops"),
  busy: (response: ServerResponse) => response.writeHead(503, { "retry-after": "1" }).end("busy"),
  throttling: (response: ServerResponse) => response.writeHead(429, { "retry-after": "1" }).end("slower"),
  impatient: (response: ServerResponse) => response.writeHead(408).end("too slow"),
  /** Nothing is done. */
  refusing: (response: ServerResponse) => response.writeHead(404).end("customer not found"),
} as const;
export type Manner = keyof typeof manners;

export type RudePartner = {
  readonly url: string;
  /** What was done, by the key that came along. */
  readonly effects: (string | undefined)[];
  /** How the next ones are answered; the last for all that follow. */
  behave(...next: Manner[]): void;
  close(): Promise<void>;
};

/** Somebody else's server, on which each `POST` has an effect: what it did is counted there, whatever it answers. */
export async function startRudePartner(): Promise<RudePartner> {
  const effects: (string | undefined)[] = [];
  let next: Manner[] = ["polite"];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const manner = next.length > 1 ? next.shift()! : next[0]!;
      if (manner !== "refusing") effects.push(request.headers["idempotency-key"]?.toString());
      manners[manner](response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    behave: (...given) => {
      effects.length = 0;
      next = given;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
