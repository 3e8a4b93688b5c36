import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded, made } from "./regexes/bounded.ts";
import { collected, regexesIn, type Literal } from "./regexes/collected.ts";
import { judge, type Verdict } from "./regexes/judge.ts";
import { fingerprintOf, readJudged } from "./regexes/judged.ts";
import { isWhole } from "./sampled.ts";

const advice =
  "Rewrite it, or scan the text instead; if the text is short, say in test/regexes/bounded.ts where that is seen to.";

/** Patterns that may be missing in judged.json, besides the slow ones, or stand there though they are gone. */
const maxFresh = 30;

/** As people find it: file, line, pattern, and a text that makes it slow. */
function told({ file, line, source, flags }: Literal, verdict: Verdict): string {
  const place = `${file}:${line}: /${source}/${flags}`;
  if (verdict.is === "slow") return `${place}\n  ${verdict.how}, for example by ${verdict.attack}`;
  return verdict.is === "unknown" ? `${place}\n  nothing is known of it: ${verdict.why}` : place;
}

/** Written out, or by its beginning. */
function isMeant(listed: string, written: string): boolean {
  return listed.endsWith("…") ? written.startsWith(listed.slice(0, -1)) : listed === written;
}

async function slowOnes(patterns: readonly Literal[]): Promise<readonly (readonly [Literal, Verdict])[]> {
  const verdicts = new Map<string, Promise<Verdict>>();
  const waiting = [...patterns];
  const slow: (readonly [Literal, Verdict])[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const key = `/${next.source}/${next.flags}`;
      const found = verdicts.get(key) ?? judge(next.source, next.flags);
      verdicts.set(key, found);
      const verdict = await found;
      if (verdict.is !== "linear") slow.push([next, verdict]);
    }
  };
  await Promise.all([work(), work()]);
  return slow;
}

test("a pattern that is slow is found, with its place and a text that shows it", async () => {
  const text = ["// ReDoS", "export const address = /^(\\w+\\.?)+@/;", "const end = new RegExp('\\\\s+$');"].join("\n");
  const { literals } = regexesIn("src/example.ts", text);
  const slow = await slowOnes(literals);
  const [first = "", second = ""] = slow.map((each) => told(...each)).sort();
  assert.match(first, /^src\/example\.ts:2: \/\^\(\\w\+\\\.\?\)\+@\/\n {2}exponential, for example by '/);
  assert.match(second, /^src\/example\.ts:3: \/\\s\+\$\/\n {2}2nd degree polynomial, for example by '/);
});

test("no pattern of src/ and web/ takes a time that grows faster than the text, unless that text is short", async () => {
  const { literals } = collected();
  const judged = isWhole ? new Set<string>() : readJudged();
  const slow = await slowOnes(literals.filter((literal) => !judged.has(fingerprintOf(literal))));
  const listed = ([{ file, source, flags }]: (typeof slow)[number]) =>
    bounded.find((each) => each.file === file && isMeant(each.pattern, `/${source}/${flags}`));
  const unlisted = slow.filter((each) => !listed(each)).map((each) => told(...each));
  assert.deepEqual(unlisted, [], `${unlisted.join("\n")}\n${advice}`);
  const used = new Set(slow.map(listed));
  const needless = bounded.filter((each) => !used.has(each)).map(({ file, pattern }) => `${file}: ${pattern}`);
  assert.deepEqual(needless, [], "nothing there is slow any more: take it out of test/regexes/bounded.ts");
});

test("what was judged before is written down, but for what changed since", () => {
  const there = new Set(collected().literals.map(fingerprintOf));
  const judged = readJudged();
  const stale = [...judged].filter((fingerprint) => !there.has(fingerprint));
  const fresh = [...there].filter((fingerprint) => !judged.has(fingerprint));
  const advice = "Run `node test/regexes/write-judged.ts` and commit test/regexes/judged.json.";
  assert.ok(stale.length <= maxFresh, `${stale.length} patterns of judged.json are gone. ${advice}`);
  assert.ok(fresh.length <= bounded.length + maxFresh, `${fresh.length} patterns are judged in each run. ${advice}`);
});

test("nor does one that is only made when it runs", async () => {
  const { built } = collected();
  const left = [...made];
  for (const { file, line, written } of built) {
    const at = left.findIndex((each) => each.file === file && isMeant(each.written, written));
    assert.notEqual(at, -1, `${file}:${line}: new RegExp(${written})\nSay in test/regexes/bounded.ts what it makes.`);
    left.splice(at, 1);
  }
  assert.deepEqual(left, [], "these are made no more: take them out of test/regexes/bounded.ts");
  const texts = made.flatMap((each) =>
    "as" in each
      ? each.as.map((source) => ({ file: each.file, line: 0, source, flags: ("flags" in each && each.flags) || "" }))
      : [],
  );
  const slow = (await slowOnes(texts)).map((each) => told(...each));
  assert.deepEqual(slow, [], `${slow.join("\n")}\n${advice}`);
});
