import { createServer, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen, type Listening } from "./listen.ts";
import type { Random } from "./random.ts";

/** A request that had an effect: who sent it, when its tool began, and when it arrived. */
export type Effect = { readonly pid: number; readonly beganAt: number; readonly at: number };

/** The world in which tools have their effects, and where these are counted. */
export type Outside = Listening & {
  /** The effects of this name, in order. */
  effectsOf(name: string): readonly Effect[];
  names(): readonly string[];
};

/**
 * `POST /<tool>?effect=<name>` has an effect, at a random time before the answer. `send_idempotent` and `send_approved` honour the
 * key; `send_reconcilable` only says later what became of it (`GET`); `send_plain` does neither.
 */
export async function startOutside(random: Random): Promise<Outside> {
  const effects = new Map<string, Effect[]>();
  const keys = new Set<string>();

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://outside");
    const key = header(request, "idempotency-key");
    const answer = (body: object) => response.end(JSON.stringify(body));
    if (request.method === "GET") return void answer({ done: keys.has(key) });

    await sleep(random.between(0, 300));
    const honoursKey = pathname === "/send_idempotent" || pathname === "/send_approved";
    if (!honoursKey || !keys.has(key)) {
      const name = searchParams.get("effect") ?? "";
      const effect = {
        pid: Number(header(request, "x-pid")),
        beganAt: Number(header(request, "x-began")),
        at: Date.now(),
      };
      effects.set(name, [...(effects.get(name) ?? []), effect]);
    }
    keys.add(key);
    await sleep(random.between(0, 600));
    answer({ done: true });
  });
  return { ...(await listen(server)), effectsOf: (name) => effects.get(name) ?? [], names: () => [...effects.keys()] };
}

function header({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
