import { about, type PeerName } from "./about.ts";
import { versionsOf } from "./http-peer.ts";
import type { PeerFindings } from "./wreak.ts";

const shownLines = 8;

/** The same table for each: what it promises, what was done to it, what became of it. */
export function tableOf(peer: PeerName, findings: PeerFindings): string {
  const { harm, doubled, gaps, failed, lost, stuck, unknownSilent } = findings;
  const rows: (readonly [string, number | string])[] = [
    [
      "harm",
      `${harm.kills} kill -9, ${harm.outages} outages of the provider, ${harm.broken} answers broken off after the effect`,
    ],
    ["requests to the model", findings.modelRequests],
    ["accepted", findings.accepted],
    ["finished", findings.finished],
    ["failed", failed.length],
    ["lost", lost.length],
    ["effects doubled, key ignored", doubled.plain.length],
    ["effects doubled, key honoured", doubled.keyed.length],
    ["stuck", stuck.length],
    ["streams with gaps", gaps?.length ?? "no stream outlives the process"],
    ["unknown, said", findings.unknownSaid],
    ["unknown, silent", unknownSilent.length],
  ];
  const details = Object.entries({ failed, lost, plain: doubled.plain, keyed: doubled.keyed, stuck, gaps: gaps ?? [] })
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([name, lines]) => [
      "",
      `${name}:`,
      ...lines.slice(0, shownLines).map((line) => `  ${line}`),
      ...(lines.length > shownLines ? ["  …"] : []),
    ]);
  const versions = peer === "colloquy" ? [] : versionsOf(peer);
  return [
    "",
    `${peer} promises: ${about[peer].promises}.`,
    `Set up: ${about[peer].setUp}.${versions.length > 0 ? ` ${versions.join(", ")}.` : ""}`,
    "",
    `| ${peer} | |`,
    "|---|---|",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    ...details,
  ].join("\n");
}
