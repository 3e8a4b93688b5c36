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
  /** An effect that comes by another way than a request to here. */
  perform(name: string, ways: Answering): Promise<void>;
  /** How often what it answered to this effect was nothing that one could understand. */
  rudenessTo(name: string): number;
};

/** How a request is answered, well or badly. */
export type Answering = { done(): void; breaks(): void; nonsense(): void };

/** An effect whose process did not say when it began: not long before it arrived. */
const beganWithinMs = 15_000;

/**
 * `POST /<tool>?effect=<name>` has an effect, at a random time before the answer. `send_idempotent` and `send_approved` honour the
 * key; `send_reconcilable` only says later what became of it (`GET`); `send_plain` does neither. One answer in twelve is no answer:
 * the connection breaks after the effect, or what comes is nonsense, or too late.
 */
export async function startOutside(random: Random): Promise<Outside> {
  const effects = new Map<string, Effect[]>();
  const keys = new Set<string>();
  const rudeTo = new Map<string, number>();

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://outside");
    const key = header(request, "idempotency-key");
    const answer = (body: object) => response.end(JSON.stringify(body));
    if (request.method === "GET") return void answer({ done: keys.has(key) });

    const name = searchParams.get("effect") ?? "";
    const honoursKey = pathname === "/send_idempotent" || pathname === "/send_approved";
    await perform(
      name,
      {
        done: () => answer({ done: true }),
        breaks: () => request.socket.resetAndDestroy(),
        nonsense: () => response.end("<html><body>Bad gateway"),
      },
      { pid: Number(header(request, "x-pid")), beganAt: Number(header(request, "x-began")) },
      { key, isHonoured: honoursKey },
    );
  });

  async function perform(
    name: string,
    ways: Answering,
    from = { pid: 0, beganAt: Date.now() - beganWithinMs },
    { key, isHonoured } = { key: "", isHonoured: false },
  ): Promise<void> {
    await sleep(random.between(0, 300));
    if (!isHonoured || !keys.has(key)) effects.set(name, [...(effects.get(name) ?? []), { ...from, at: Date.now() }]);
    keys.add(key);
    await sleep(random.between(0, 600));
    if (!random.chance(1 / 12)) return ways.done();
    rudeTo.set(name, (rudeTo.get(name) ?? 0) + 1);
    const manner = random.pick(["breaks", "nonsense", "late"] as const);
    if (manner === "breaks") return ways.breaks();
    if (manner === "late") await sleep(8000);
    ways.nonsense();
  }
  return {
    ...(await listen(server)),
    effectsOf: (name) => effects.get(name) ?? [],
    names: () => [...effects.keys()],
    perform: (name, ways) => perform(name, ways),
    rudenessTo: (name) => rudeTo.get(name) ?? 0,
  };
}

function header({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
