import { setTimeout as sleep } from "node:timers/promises";
import type { HarmedPostgres } from "./database.ts";
import type { Node } from "./cluster.ts";
import type { ModelServer } from "./model.ts";
import type { Random } from "./random.ts";

/** What is done to one process, to its way to the database, to PostgreSQL, and to the provider of the model. */
const processKinds = ["kill -9", "SIGSTOP", "SIGTERM"] as const;
const wayKinds = ["silent connections", "silent database", "slow database"] as const;
const postgresKinds = ["dropped connections", "PostgreSQL killed", "PostgreSQL stopped", "failover"] as const;
const providerKinds = ["provider away"] as const;
export const faultKinds = [...processKinds, ...wayKinds, ...postgresKinds, ...providerKinds] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Something that was done, and when; `until` while it lasted. */
export type Fault = {
  readonly kind: FaultKind;
  /** The process it was done to; 0: to all of them. */
  readonly pid: number;
  readonly at: number;
  until: number;
};

export type FaultOptions = {
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly postgres: HarmedPostgres;
  readonly model: ModelServer;
  /** How long the whole chaos lasts. */
  readonly seconds: number;
  readonly goesOn: () => boolean;
  readonly log: (text: string) => void;
};

/** Does harm at random moments until told to stop; then all is well again. Returns what was done. */
export async function doHarm(options: FaultOptions): Promise<readonly Fault[]> {
  const { nodes, random, goesOn, log } = options;
  const faults: Fault[] = [];
  const harmed = new Map<Node | "PostgreSQL" | "provider", Promise<void>>();
  const harmedNodes = () => nodes.filter((node) => harmed.has(node)).length;
  const startedAt = Date.now();
  while (goesOn()) {
    // Drawn in the same order whatever happens meanwhile.
    const pauseMs = random.between(500, 4000);
    const node = random.pick(nodes);
    const kind = random.pick(random.chance(0.5) ? processKinds : faultKinds);
    const harm = drawHarm(kind, node, options);
    await sleep(pauseMs);
    const isOfNode =
      (processKinds as readonly string[]).includes(kind) || (wayKinds as readonly string[]).includes(kind);
    const victim = isOfNode ? node : kind === "provider away" ? "provider" : "PostgreSQL";
    // One node at least is left in peace.
    if (!goesOn() || harmed.has(victim) || (isOfNode && nodes.length > 1 && harmedNodes() >= nodes.length - 1))
      continue;
    const fault: Fault = { kind, pid: isOfNode ? node.pid() : 0, at: Date.now(), until: Infinity };
    faults.push(fault);
    log(`${((fault.at - startedAt) / 1000).toFixed(1)} s  ${kind}  ${isOfNode ? node.name : ""}`);
    const done = harm().finally(() => {
      fault.until = Date.now();
      harmed.delete(victim);
    });
    harmed.set(victim, done);
  }
  await Promise.all(harmed.values());
  return faults;
}

function drawHarm(
  kind: FaultKind,
  node: Node,
  { random, postgres, model, nodes, seconds }: FaultOptions,
): () => Promise<void> {
  const share = random.next();
  const shortMs = random.between(0, 3000);
  const awayMs = random.between(0, 9000);
  // A short chaos would be nothing but one silence.
  const longMs = random.between(5000, Math.max(5000, Math.min(120_000, (seconds * 1000) / 4)));
  const outageMs = random.between(5000, Math.max(5000, Math.min(300_000, (seconds * 1000) / 3)));
  const freezeMs = stopMs(random);
  const how = random.pick(["reset", "hang", "503", "429"] as const);
  const lead = (url: string) => {
    for (const { way } of nodes) way.turnTo(url);
  };
  const restart = async (end: () => Promise<void>) => {
    await end();
    await sleep(awayMs);
    // On another port each time: whoever goes on asking the old one asks nobody.
    lead(await postgres.startAgain());
  };
  switch (kind) {
    case "kill -9":
    case "SIGTERM":
      return async () => {
        await node.signal(kind === "kill -9" ? "SIGKILL" : "SIGTERM");
        await sleep(shortMs);
        await node.start();
      };
    case "SIGSTOP":
      return async () => {
        await node.signal("SIGSTOP");
        await sleep(freezeMs);
        await node.signal("SIGCONT");
      };
    case "silent connections":
      return async () => {
        node.way.silenceOld();
        await sleep(longMs);
      };
    case "silent database":
      return async () => {
        node.way.silenceAll();
        await sleep(longMs);
        node.way.speak();
      };
    case "slow database":
      return async () => {
        node.way.delay(100);
        await sleep(longMs);
        node.way.delay(0);
      };
    case "dropped connections":
      return () => dropConnections(postgres, share);
    case "PostgreSQL killed":
      return () => restart(postgres.server.crash);
    case "PostgreSQL stopped":
      return () => restart(postgres.server.shutDown);
    case "failover":
      return async () => {
        // The old place falls silent instead of refusing.
        for (const { way } of nodes) way.silenceAll();
        await postgres.server.crash();
        await sleep(awayMs);
        lead(await postgres.startAgain());
        for (const { way } of nodes) way.speak();
      };
    case "provider away":
      return async () => {
        model.leave(how);
        await sleep(outageMs);
        model.comeBack();
      };
  }
}

/** Mostly until just after another process has taken the runs: then both are at the same step. */
function stopMs(random: Random): number {
  return random.chance(0.6) ? random.between(11_000, 15_000) : random.between(1000, 9000);
}

async function dropConnections({ query }: HarmedPostgres, share: number): Promise<void> {
  const rows = await query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'colloquy' and datname = current_database() order by pid",
  );
  const dropped = rows.slice(0, Math.ceil(rows.length * share)).map(({ pid }) => pid);
  await query("select pg_terminate_backend(pid) from unnest($1::integer[]) as p (pid)", [dropped]);
}
