import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wreakChaos } from "./chaos.ts";
import { peerNames } from "./peers/about.ts";
import { tableOf } from "./peers/table.ts";
import { wreakOnPeer } from "./peers/wreak.ts";
import { isPassed, reportOf } from "./report.ts";

const usage =
  "npm run chaos -- [--minutes 3] [--nodes 3] [--seed <number>] [--clients <number>] [--peer <name>] [--quiet]";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "3" },
    nodes: { type: "string", default: "3" },
    seed: { type: "string" },
    clients: { type: "string" },
    peer: { type: "string" },
    quiet: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    `${usage}\nPeers: ${peerNames.join(", ")}; one node of each, under the harm that can be done from outside.`,
  );
  process.exit(0);
}
const minutes = Number(values.minutes);
const peer = peerNames.find((name) => name === values.peer);
const nodes = peer ? 1 : Number(values.nodes);
const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
const clients = Number(values.clients ?? nodes * 6);
if (
  (values.peer !== undefined && peer === undefined) ||
  !(
    minutes > 0 &&
    minutes <= 600 &&
    nodes >= 1 &&
    nodes <= 16 &&
    clients >= 1 &&
    clients <= 200 &&
    Number.isSafeInteger(seed)
  )
) {
  console.error(usage);
  process.exit(2);
}

// Everything that was started ends with this process, however it ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
const folder = mkdtempSync(join(tmpdir(), "colloquy-chaos-"));
console.log(
  `chaos: ${peer ? `${peer}, ` : ""}${minutes} minutes, ${nodes} nodes, ${clients} clients, seed ${seed}; logs in ${folder}`,
);
const options = {
  folder,
  seconds: minutes * 60,
  clients,
  seed,
  log: (text: string) => {
    if (!values.quiet) console.log(text);
  },
};
if (peer) {
  // A measurement, and no test: whatever became of it, it was measured.
  console.log(tableOf(peer, await wreakOnPeer({ ...options, peer })));
  process.exit(0);
}

const findings = await wreakChaos({ ...options, nodes });
console.log(reportOf(findings));
if (isPassed(findings)) rmSync(folder, { recursive: true, force: true });
else
  console.log(
    `\nAgain: npm run chaos -- --minutes ${minutes} --nodes ${nodes} --clients ${clients} --seed ${seed}; logs in ${folder}`,
  );
process.exit(isPassed(findings) ? 0 : 1);
