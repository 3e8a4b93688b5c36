import { openEmptyDatabase } from "../empty-database.ts";
import { startPostgres } from "../../test/postgres.ts";
import { countLook, excess, type World } from "../growth/count-look.ts";
import { fill } from "../growth/fill.ts";
import { type Look, looks } from "../growth/looks.ts";
import { type Bench, type Part, withOwned } from "../part.ts";
import type { Row } from "../rows.ts";

const part = "growth";
const kinds = ["postgres", "pglite"] as const;
/** Below this the figures are of the machine. */
const shortest = 1;

async function leastTime(world: World, look: Look, rounds: number): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) least = Math.min(least, (await countLook(world, look)).milliseconds);
  return Math.max(shortest, least);
}

async function measure(bench: Bench, kind: (typeof kinds)[number], found: string[]): Promise<Row[]> {
  const large = bench.quick ? 10 : 100;
  return withOwned(async (own) => {
    const postgres = kind === "postgres" ? own(await startPostgres({ settings: { jit: "off" } })) : undefined;
    const open = async (scale: number): Promise<World> => {
      const database = await openEmptyDatabase(postgres);
      own({ stop: database.close });
      bench.log(`growth: filling ${kind}, ${scale}×`);
      return { database, filled: await fill(database, scale) };
    };
    const [small, big] = [await open(1), await open(large)];
    const rows: Row[] = [];
    for (const look of looks) {
      const counts = await countLook(big, look);
      const problem = excess(look, counts);
      if (problem !== undefined) found.push(`${kind}, ${look.name}: ${problem}`);
      rows.push({
        part,
        name: `${look.name}, ${large}× the data, ${kind}`,
        unit: "ms",
        values: [await leastTime(big, look, bench.rounds)],
        reference: [await leastTime(small, look, bench.rounds)],
        bar: { kind: "ratio", max: look.ratio },
        note: `${counts.rows} rows, ${counts.buffers} buffers for ${counts.returned}`,
      });
    }
    return rows;
  });
}

/** What is there already is not in the time of a list, a search, a count or the start of a run. */
export const growth: Part = {
  name: part,
  async run(bench) {
    const found: string[] = [];
    const rows: Row[] = [];
    for (const kind of kinds) rows.push(...(await measure(bench, kind, found)));
    if (found.length > 0) bench.log(`growth: too much is read\n${found.join("\n")}`);
    // The times of a quick run mean nothing, what it reads does.
    if (bench.quick && found.length > 0) throw new Error(`${found.length} looks read too much`);
    const bar = { kind: "value", max: 0 } as const;
    return [...rows, { part, name: "looks that read too much", unit: "looks", values: [found.length], bar }];
  },
};
