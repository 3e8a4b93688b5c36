import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../test/postgres.ts";
import { createRandom, type Random } from "../random.ts";
import { startColloquy } from "./colloquy.ts";
import { startHttpPeer } from "./http-peer.ts";
import { type Findings, judge } from "./judge.ts";
import { sendMessages, type Submission } from "./load.ts";
import { type ModelServer, startModelServer } from "./model.ts";
import { startOutside } from "./outside.ts";
import type { Peer } from "./peer.ts";

export type PeerChaosOptions = {
  readonly peer: string;
  /** Empty; keeps data and logs. */
  readonly folder: string;
  readonly seconds: number;
  readonly clients: number;
  readonly seed: number;
  readonly log: (text: string) => void;
};

export type PeerFindings = Findings & {
  readonly harm: { readonly kills: number; readonly outages: number; readonly broken: number };
  readonly modelRequests: number;
};

/** After the harm, this long until every run has ended. */
const quietWithinMs = 60_000;

/** The same load and harm for whichever server: what it accepted is held against what became of it. */
export async function wreakOnPeer(options: PeerChaosOptions): Promise<PeerFindings> {
  const { folder, seconds, clients, log } = options;
  const random = createRandom(options.seed);
  const postgres = await startPostgres();
  const outside = await startOutside(random.fork("outside"));
  const model = await startModelServer(random.fork("model"));
  const settings = {
    folder,
    databaseUrl: await postgres.createDatabase(),
    modelUrl: model.url,
    outsideUrl: outside.url,
  };
  const peer =
    options.peer === "colloquy"
      ? await startColloquy(random.fork("followers"), settings)
      : await startHttpPeer(options.peer, random.fork("followers"), settings);

  const submissions: Submission[] = [];
  const patience = new AbortController();
  const end = Date.now() + seconds * 1000;
  const goesOn = () => Date.now() < end;
  const load = Promise.all(
    Array.from({ length: clients }, (_, at) =>
      sendMessages({
        name: `client${at + 1}`,
        peer,
        random: random.fork(`client ${at}`),
        outside,
        submissions,
        goesOn,
        patience: patience.signal,
      }),
    ),
  );
  const [kills, outages] = await Promise.all([
    kill(peer, { random: random.fork("kills"), goesOn, log }),
    darken(model, { random: random.fork("outages"), goesOn, log }),
  ]);
  outside.calm();
  log("the harm is over; waiting for quiet");
  await Promise.race([load, sleep(quietWithinMs, undefined, { ref: false })]);
  patience.abort();
  await load;

  const findings = judge(submissions, outside);
  await peer.close();
  outside.close();
  model.close();
  await postgres.stop();
  return { ...findings, harm: { kills, outages, broken: outside.broken() }, modelRequests: model.requests() };
}

type Harm = { readonly random: Random; readonly goesOn: () => boolean; readonly log: (text: string) => void };

async function kill(peer: Peer, { random, goesOn, log }: Harm): Promise<number> {
  for (let count = 0; ; count++) {
    await sleep(random.between(2000, 8000));
    if (!goesOn()) return count;
    await peer.kill();
    log("kill -9");
    await sleep(random.between(0, 1000));
    await peer.start();
  }
}

async function darken(model: ModelServer, { random, goesOn, log }: Harm): Promise<number> {
  for (let count = 0; ; count++) {
    await sleep(random.between(8000, 16_000));
    if (!goesOn()) return count;
    const lastsMs = random.between(3000, 8000);
    log(`the provider is away for ${(lastsMs / 1000).toFixed(1)} s`);
    await model.outage(lastsMs);
  }
}
