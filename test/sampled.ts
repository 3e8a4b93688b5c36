import { createHash, randomInt } from "node:crypto";

/** `npm run test:all`: every case on every database, however long it takes. */
export const isWhole = process.env["COLLOQUY_TEST_ALL"] === "1";

const given = process.env["COLLOQUY_TEST_SEED"];
const seed = Number(given ?? randomInt(2 ** 32));
if (given === undefined && !isWhole) console.log(`COLLOQUY_TEST_SEED=${seed}`);

/** Of cases that take long together, `most` that a seed picks, in their order; all of them by `npm run test:all`. */
export function sampled<Case>(cases: readonly Case[], most: number): readonly Case[] {
  if (isWhole || cases.length <= most) return cases;
  const drawn = cases
    .map((_, at) => ({ at, lot: lotOf(String(at)) }))
    .sort((one, other) => (one.lot < other.lot ? -1 : 1))
    .slice(0, most);
  const picked = new Set(drawn.map(({ at }) => at));
  return cases.filter((_, at) => picked.has(at));
}

/** The same for a seed and a name; two names have nothing to do with each other. */
export function lotOf(name: string): string {
  return createHash("sha256").update(`${seed} ${name}`).digest("hex");
}
