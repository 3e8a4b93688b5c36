import type { ChaosFindings } from "./chaos.ts";

/** What must be nothing, each with how it was broken. */
function brokenPromises({
  lost,
  duplicated,
  stuck,
  gaps,
  broken,
  impatient,
}: ChaosFindings): readonly (readonly [string, readonly string[]])[] {
  return [
    ["lost", lost],
    ["duplicated", duplicated],
    ["stuck", stuck],
    ["gaps in streams", gaps],
    ["invariants broken", broken],
    ["failed though waiting would have helped", impatient],
  ];
}

/** A run in which nothing was accepted proves nothing. */
export function isPassed(findings: ChaosFindings): boolean {
  return findings.accepted > 0 && brokenPromises(findings).every(([, lines]) => lines.length === 0);
}

const shownLines = 20;

export function reportOf(findings: ChaosFindings): string {
  const {
    accepted,
    done,
    failed,
    cancelled,
    resumed,
    unknown,
    afterFreeze,
    takeovers,
    handOvers,
    retries,
    faults,
    modelRequests,
    impatient,
  } = findings;
  const counts = (record: Readonly<Record<string, number>>) =>
    Object.entries(record)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ");
  const rows: (readonly [string, number | string])[] = [
    ["faults", counts(faults)],
    ["requests to the model", modelRequests],
    ["takeovers", takeovers],
    ["handed over", handOvers],
    ["attempts withdrawn from streams", retries],
    ["accepted", accepted],
    ["finished", done],
    ["failed, since five processes died over it", failed - impatient.length],
    ["cancelled", cancelled],
    ["resumed after their end", resumed],
    ["unknown", counts(unknown)],
    ["sent by a process frozen just before", afterFreeze],
    ...brokenPromises(findings).map(([name, lines]) => [name, lines.length] as const),
  ];
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`);
  const details = brokenPromises(findings).flatMap(([name, lines]) =>
    lines.length === 0
      ? []
      : [
          "",
          `${name}:`,
          ...lines.slice(0, shownLines).map((line) => `  ${line}`),
          ...(lines.length > shownLines ? ["  …"] : []),
        ],
  );
  return ["", "| measured | |", "|---|---|", ...table, ...details].join("\n");
}
