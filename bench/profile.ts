import { readFile } from "node:fs/promises";

/**
 * Prints where a CPU profile spent its time: `node bench/profile.ts <file>.cpuprofile [<lines>]`.
 * `BENCH_PROFILE=<folder> npm run bench -- <part>` writes one for each server that it starts.
 */
type Frame = { readonly functionName: string; readonly url: string; readonly lineNumber: number };
type Profile = {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

const [file = "", lines = "40"] = process.argv.slice(2);
const profile = JSON.parse(await readFile(file, "utf8")) as Profile;
const root = new URL("../", import.meta.url).href;

const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const own = new Map<number, number>();
profile.samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0)));

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName || "(anonymous)";
  return url === "" ? name : `${name} ${url.replace(root, "").replace(/^.*node_modules\//, "")}:${lineNumber + 1}`;
}

function folderOf({ functionName, url }: Frame): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "native";
  if (url.includes("/node_modules/"))
    return /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(url)?.[1] ?? url;
  return url.startsWith(root)
    ? (/^src\/[^/]+/.exec(url.slice(root.length))?.[0] ?? "bench")
    : url.replace(/^node:internal\/([^/]+).*/, "node:$1");
}

const all = [...own.values()].reduce((sum, time) => sum + time, 0);
const idle = profile.nodes
  .filter((node) => node.callFrame.functionName === "(idle)")
  .reduce((sum, node) => sum + (own.get(node.id) ?? 0), 0);
const busy = all - idle;

const selfTime = new Map<string, number>();
const folderTime = new Map<string, number>();
const totalTime = new Map<string, number>();
const add = (map: Map<string, number>, key: string, time: number): unknown => map.set(key, (map.get(key) ?? 0) + time);

/** The time under a node; a function counts once in its own recursion. */
function walk(id: number, above: ReadonlySet<string>): number {
  const node = nodes.get(id);
  if (!node) return 0;
  const name = nameOf(node.callFrame);
  let time = own.get(id) ?? 0;
  add(selfTime, name, time);
  add(folderTime, folderOf(node.callFrame), time);
  const inside = above.has(name) ? above : new Set(above).add(name);
  for (const child of node.children ?? []) time += walk(child, inside);
  if (!above.has(name)) add(totalTime, name, time);
  return time;
}
walk(profile.nodes[0]?.id ?? 0, new Set());

function print(title: string, times: ReadonlyMap<string, number>, count: number): void {
  console.log(`\n${title}, % of ${(busy / 1000).toFixed(0)} ms busy`);
  const sorted = [...times]
    .filter(([name]) => !name.includes("(idle)") && name !== "(root)")
    .sort((left, right) => right[1] - left[1]);
  for (const [name, time] of sorted.slice(0, count))
    console.log(`${((time / busy) * 100).toFixed(1).padStart(6)}  ${name}`);
}
print("by folder or package", folderTime, 25);
print("own time", selfTime, Number(lines));
print("with what it calls", new Map([...totalTime].filter(([name]) => name.includes("src/"))), Number(lines));
