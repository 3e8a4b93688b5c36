import { setTimeout as sleep } from "node:timers/promises";
import type { Bench, Server } from "./part.ts";
import type { PostgresMeter, PostgresUse } from "./postgres-meter.ts";
import type { Usage } from "./probe.ts";
import type { LoadInput, LoadResult } from "./sse-load.ts";

/** A server and, where it has one of its own, the PostgreSQL behind it. */
export type Metered = { readonly server: Server; readonly meter?: PostgresMeter };

/** What one answer cost, of all that were asked for together. */
export type Cost = {
  readonly serverMs: number;
  readonly postgresMs: number;
  readonly walBytes: number;
  readonly statements: number;
  /** That the client counted. */
  readonly events: number;
};

const nothing: PostgresUse = { cpuMs: 0, walBytes: 0, statements: 0 };

/** Of both processes together. */
export function cpuOf({ serverMs, postgresMs }: Cost): number {
  return serverMs + postgresMs;
}

/** Of a second in which nobody asks. */
export async function idleCost(metered: Metered, milliseconds: number): Promise<Cost> {
  const before = await useOf(metered);
  await sleep(milliseconds);
  return costBetween(before, await useOf(metered), milliseconds / 1000);
}

/**
 * Asks, waits until what is written behind an answer is written too, and shares out what was used. `idle`, of a second:
 * is taken off, where a figure is to be that of the runs alone.
 */
export async function costPerAnswer(bench: Bench, metered: Metered, load: LoadInput, idle?: Cost): Promise<Cost> {
  const began = performance.now();
  const before = await useOf(metered);
  const { done, events } = await bench.load.call<LoadResult>("load", load);
  await sleep(400);
  const after = await useOf(metered);
  const cost = costBetween(before, after, done);
  const share = idle === undefined ? 0 : (performance.now() - began) / 1000 / done;
  const less = (value: number, perSecond = 0) => (share === 0 ? value : Math.max(0, value - perSecond * share));
  return {
    serverMs: less(cost.serverMs, idle?.serverMs),
    postgresMs: less(cost.postgresMs, idle?.postgresMs),
    walBytes: less(cost.walBytes, idle?.walBytes),
    statements: less(cost.statements, idle?.statements),
    events: events / done,
  };
}

type Use = { readonly serverMs: number; readonly postgres: PostgresUse };

async function useOf({ server, meter }: Metered): Promise<Use> {
  const postgres = (await meter?.read()) ?? nothing;
  return { serverMs: (await server.child.call<Usage>("usage")).cpuMs, postgres };
}

function costBetween(before: Use, after: Use, count: number): Cost {
  const per = (key: keyof PostgresUse) => (after.postgres[key] - before.postgres[key]) / count;
  return {
    serverMs: (after.serverMs - before.serverMs) / count,
    postgresMs: per("cpuMs"),
    walBytes: per("walBytes"),
    statements: per("statements"),
    events: 0,
  };
}
