import { writeFileSync } from "node:fs";
import { collected } from "./collected.ts";
import { judge } from "./judge.ts";
import { fingerprintOf, judgedFile } from "./judged.ts";

/** Judges every pattern, which takes minutes, and writes down those that are linear: `node test/regexes/write-judged.ts`. */
const patterns = new Map(collected().literals.map((literal) => [fingerprintOf(literal), literal]));
const waiting = [...patterns];
const linear: string[] = [];
const work = async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [fingerprint, { source, flags }] = next;
    if ((await judge(source, flags)).is === "linear") linear.push(fingerprint);
  }
};
await Promise.all([work(), work()]);
writeFileSync(judgedFile, `${JSON.stringify(linear.sort(), null, 2)}\n`);
console.log(`${linear.length} of ${patterns.size} patterns take linear time.`);
