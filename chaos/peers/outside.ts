import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen, type Listening } from "../listen.ts";
import type { Random } from "../random.ts";

/** The world in which effects happen and are counted; after some of them the connection breaks before the answer. */
export type Outside = Listening & {
  countOf(effect: string): number;
  /** Whether an answer about this effect never arrived whole, so that its caller can't know. */
  isUnclear(effect: string): boolean;
  names(): readonly string[];
  /** How many connections were broken on purpose. */
  broken(): number;
  /** From now on nothing breaks. */
  calm(): void;
};

const breaks = 0.06;

/** `POST /<tool>?effect=<name>`: `send_idempotent` honours the `Idempotency-Key`, `send_plain` does not look at it. */
export async function startOutside(random: Random): Promise<Outside> {
  const counts = new Map<string, number>();
  const unclear = new Set<string>();
  const keys = new Set<string>();
  let isCalm = false;
  let broken = 0;

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://outside");
    const effect = searchParams.get("effect") ?? "";
    const key = String(request.headers["idempotency-key"] ?? "");
    request.resume();
    response.on("close", () => {
      if (!response.writableFinished) unclear.add(effect);
    });
    const [beforeMs, afterMs, isBroken] = [random.between(0, 200), random.between(0, 400), random.chance(breaks)];
    await sleep(beforeMs);
    const isRepeat = pathname === "/send_idempotent" && key !== "" && keys.has(key);
    if (!isRepeat) counts.set(effect, (counts.get(effect) ?? 0) + 1);
    keys.add(key);
    await sleep(afterMs);
    if (isBroken && !isCalm) {
      broken++;
      response.destroy();
    } else response.setHeader("content-type", "application/json").end('{"done":true}');
  });
  return {
    ...(await listen(server)),
    countOf: (effect) => counts.get(effect) ?? 0,
    isUnclear: (effect) => unclear.has(effect),
    names: () => [...counts.keys()],
    broken: () => broken,
    calm: () => void (isCalm = true),
  };
}
