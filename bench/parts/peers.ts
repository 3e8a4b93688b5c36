import { startPostgres } from "../../test/postgres.ts";
import { costPerAnswer, cpuOf, type Cost, type Metered } from "../cost.ts";
import { inRounds, startProxy, withOwned, type Bench, type Part } from "../part.ts";
import { peers, startPeer } from "../peers/peers.ts";
import { meteredSettings, startPostgresMeter, type PostgresMeter } from "../postgres-meter.ts";
import { startProduct } from "../product.ts";
import { askAgent, askModel, type Request } from "../requests.ts";
import type { Row } from "../rows.ts";
import type { Script } from "../script.ts";
import type { LoadInput } from "../sse-load.ts";
import { summarize } from "../statistics.ts";

const burst: Script = { rounds: 0, parallel: 1, tokens: 200, delay: 0 };
const paced: Script = { rounds: 0, parallel: 1, tokens: 50, delay: 20 };
const config = { concurrency: { perUser: 600, perNode: 600 } };
const cells = [
  { name: "200 tokens in a burst, 32 at once", script: burst, streams: 32, requests: 192 },
  { name: "50 tokens at 20 ms, 128 streams", script: paced, streams: 128, requests: 256 },
] as const;

type Subject = Metered & { readonly about: string; ask(script: Script): Request };

async function startSubjects(
  bench: Bench,
  own: <Owned extends { stop(): Promise<void> }>(owned: Owned) => Owned,
): Promise<ReadonlyMap<string, Subject>> {
  const { modelUrl } = bench;
  const scripts = [burst, paced];
  /** One for each, so that none pays for what another does by the clock. */
  const startMetered = async (): Promise<{ databaseUrl: string; meter: PostgresMeter }> => {
    const postgres = own(await startPostgres({ fsync: true, settings: meteredSettings }));
    return { databaseUrl: await postgres.createDatabase(), meter: own(await startPostgresMeter(postgres.url)) };
  };
  const subjects = new Map<string, Subject>();
  const proxy = own(await startProxy(bench));
  subjects.set("proxy", { server: proxy, about: "", ask: (script) => askModel(proxy, script) });
  const { databaseUrl, meter } = await startMetered();
  const product = own(await startProduct({ modelUrl, scripts, config, databaseUrl }));
  const about = "Colloquy: a model's answer handed on, PostgreSQL";
  subjects.set("passed on", { server: product, meter, about, ask: (script) => askModel(product, script) });
  const durably = "Colloquy: a durable run, PostgreSQL";
  subjects.set("run", { server: product, meter, about: durably, ask: (script) => askAgent(product, script) });
  for (const peer of peers) {
    bench.log(`peers: starting ${peer.name}`);
    const stored = peer.stores ? await startMetered() : undefined;
    const server = own(
      await startPeer(peer, { modelUrl, scripts, ...(stored && { databaseUrl: stored.databaseUrl }) }),
    );
    subjects.set(peer.name, {
      server,
      about: peer.about,
      ask: (script) => peer.ask(server, script, modelUrl),
      ...(stored && { meter: stored.meter }),
    });
  }
  return subjects;
}

/** Others' servers and libraries beside ours, asked by the same client for the same answers of the same model. */
export const peersPart: Part = {
  name: "peers",
  run: (bench) =>
    withOwned(async (own) => {
      const subjects = await startSubjects(bench, own);
      const names = [...subjects.keys()];
      const rows: Row[] = [];
      for (const cell of cells) {
        bench.log(`peers: ${cell.name}`);
        const measure = (name: string): Promise<Cost> => {
          const subject = subjects.get(name)!;
          const size = bench.quick ? { streams: 2, requests: 4 } : { streams: cell.streams, requests: cell.requests };
          const load: LoadInput = { ...subject.ask(cell.script), ...size, milliseconds: Infinity };
          return costPerAnswer(bench, subject, load);
        };
        if (!bench.quick) await inRounds(1, names, measure);
        const costs = await inRounds(bench.rounds, names, measure);
        for (const name of names.slice(1)) {
          const own = costs[name]!;
          const median = (key: keyof Cost): string => summarize(own.map((cost) => cost[key])).median.toFixed(1);
          rows.push({
            part: "peers",
            name: `CPU per answer of server and database, ${cell.name}: ${subjects.get(name)!.about}`,
            unit: "ms",
            values: own.map(cpuOf),
            reference: costs["proxy"]!.map(cpuOf),
            note: `server ${median("serverMs")}, PostgreSQL ${median("postgresMs")} ms; ${median("events")} events`,
          });
        }
      }
      return rows;
    }),
};
