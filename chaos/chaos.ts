import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "./cluster.ts";
import { startHarmedPostgres } from "./database.ts";
import { doHarm, faultKinds, type Fault } from "./faults.ts";
import { sendMessages, type Submission } from "./load.ts";
import { startMcpServer } from "./mcp.ts";
import { startModelServer } from "./model.ts";
import { startOutside } from "./outside.ts";
import { createRandom } from "./random.ts";
import { type Findings, verify, watchDatabase } from "./verify.ts";

export type ChaosOptions = {
  /** Empty; keeps configuration, data and logs. */
  readonly folder: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly clients: number;
  readonly seed: number;
  readonly log: (text: string) => void;
};

export type ChaosFindings = Findings & {
  readonly faults: Readonly<Record<string, number>>;
  readonly modelRequests: number;
};

/** After the harm, this long until every run has ended: a wait for a heartbeat, a write's time, the rest of the answers. */
const quietWithinMs = 90_000;

/** Real processes under load and harm; then what is left of the promises. The processes end with this one. */
export async function wreakChaos({
  folder,
  seconds,
  nodes: count,
  clients,
  seed,
  log,
}: ChaosOptions): Promise<ChaosFindings> {
  const random = createRandom(seed);
  const postgres = await startHarmedPostgres();
  const outside = await startOutside(random.fork("outside"));
  const mcp = await startMcpServer(outside);
  const model = await startModelServer(random.fork("model"));
  const nodes = await startCluster({
    folder,
    nodes: count,
    databaseUrl: postgres.url(),
    modelUrl: model.url,
    outsideUrl: outside.url,
    mcpUrl: mcp.url,
  });
  await watchDatabase(postgres.query);

  const submissions: Submission[] = [];
  const complaints: string[] = [];
  const end = Date.now() + seconds * 1000;
  const goesOn = () => Date.now() < end;
  const patience = new AbortController();
  const load = Array.from({ length: clients }, (_, at) =>
    sendMessages({
      name: `client${at + 1}`,
      nodes,
      random: random.fork(`client ${at}`),
      outside,
      signal: patience.signal,
      submissions,
      goesOn,
      complain: (text) => complaints.push(text),
    }).catch((error: unknown) => {
      if (!patience.signal.aborted) complaints.push(`a client was refused: ${String(error)}`);
    }),
  );
  const faults: readonly Fault[] = await doHarm({
    nodes,
    random: random.fork("faults"),
    postgres,
    model,
    seconds,
    goesOn,
    log,
  });
  model.calm();
  log("the harm is over; waiting for quiet");
  const allEnded = Promise.all(load).then(() => true);
  await Promise.race([allEnded, sleep(quietWithinMs, false, { ref: false })]);
  patience.abort();
  await allEnded;

  const findings = await verify({ query: postgres.query, submissions, model, outside, faults, complaints });
  await Promise.all(nodes.map((node) => node.signal("SIGKILL")));
  outside.close();
  model.close();
  mcp.close();
  await Promise.all(nodes.map((node) => node.way.close()));
  await postgres.server.stop();
  const counted = faultKinds.map((kind) => [kind, faults.filter((fault) => fault.kind === kind).length] as const);
  return {
    ...findings,
    faults: { ...Object.fromEntries(counted), "faults of the model": model.counts.faults },
    modelRequests: model.counts.requests,
  };
}
