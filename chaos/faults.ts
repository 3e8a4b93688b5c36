import { setTimeout as sleep } from "node:timers/promises";
import type { Client as PgClient } from "pg";
import type { Node } from "./cluster.ts";
import type { Random } from "./random.ts";

export const faultKinds = ["kill -9", "SIGSTOP", "SIGTERM", "dropped connections"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Something that was done to a process, and when; `until` while it lasted. */
export type Fault = {
  readonly kind: FaultKind;
  readonly node: string;
  readonly pid: number;
  readonly at: number;
  until: number;
};

export type FaultOptions = {
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly database: PgClient;
  readonly goesOn: () => boolean;
  readonly log: (text: string) => void;
};

/** Does harm at random moments until told to stop; then every node is at work again. Returns what was done. */
export async function doHarm({ nodes, random, database, goesOn, log }: FaultOptions): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const harmed = new Map<Node, Promise<void>>();
  const startedAt = Date.now();
  while (goesOn()) {
    // Drawn in the same order whatever happens meanwhile.
    const pauseMs = random.between(500, 4000);
    const node = random.pick(nodes);
    const kind = random.pick(faultKinds);
    const lastsMs = kind === "SIGSTOP" ? stopMs(random) : random.between(0, 3000);
    const share = random.next();
    await sleep(pauseMs);
    // One node at least is left in peace.
    if (!goesOn() || harmed.has(node) || (nodes.length > 1 && harmed.size >= nodes.length - 1)) continue;
    const fault: Fault = { kind, node: node.name, pid: node.pid(), at: Date.now(), until: Infinity };
    faults.push(fault);
    log(`${((fault.at - startedAt) / 1000).toFixed(1)} s  ${kind}  ${kind === "dropped connections" ? "" : node.name}`);
    if (kind === "dropped connections") {
      await dropConnections(database, share);
      fault.until = Date.now();
      continue;
    }
    const harm = harmNode(node, kind, lastsMs).finally(() => {
      fault.until = Date.now();
      harmed.delete(node);
    });
    harmed.set(node, harm);
  }
  await Promise.all(harmed.values());
  return faults;
}

/** Mostly until just after another process has taken the runs: then both are at the same step. */
function stopMs(random: Random): number {
  return random.chance(0.6) ? random.between(11_000, 15_000) : random.between(1000, 9000);
}

async function harmNode(node: Node, kind: Exclude<FaultKind, "dropped connections">, lastsMs: number): Promise<void> {
  if (kind === "SIGSTOP") {
    await node.signal("SIGSTOP");
    await sleep(lastsMs);
    return node.signal("SIGCONT");
  }
  await node.signal(kind === "kill -9" ? "SIGKILL" : "SIGTERM");
  await sleep(lastsMs);
  await node.start();
}

async function dropConnections(database: PgClient, share: number): Promise<void> {
  const { rows } = await database.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'colloquy' and datname = current_database() order by pid",
  );
  const dropped = rows.slice(0, Math.ceil(rows.length * share)).map(({ pid }) => pid);
  await database.query("select pg_terminate_backend(pid) from unnest($1::integer[]) as p (pid)", [dropped]);
}
