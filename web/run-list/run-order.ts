import type { ListedRunView } from "../../src/protocol/threads/run-trace.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import type { SortHead } from "../parts/table.tsx";

const values = {
  started: ({ createdAt }: ListedRunView) => Date.parse(createdAt),
  tokens: ({ used }: ListedRunView) => used?.tokens ?? 0,
  cost: ({ used }: ListedRunView) => used?.cost ?? 0,
  duration: ({ startedAt, endedAt }: ListedRunView) =>
    startedAt === null || endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt),
};
export type RunOrderName = keyof typeof values;

type RunOrder = {
  /** Of those that are shown; the server gives the newest first. */
  readonly sorted: <Row extends ListedRunView>(rows: readonly Row[]) => readonly Row[];
  readonly head: (name: RunOrderName, text: string) => SortHead;
};

/** As the address says: `sort=cost`, and `sort=-cost` for the largest first. */
export function useRunOrder(): RunOrder {
  const asked = useQuery().get("sort") ?? "-started";
  const isDown = asked.startsWith("-");
  const by = asked.replace(/^-/, "");
  const isKnown = Object.hasOwn(values, by);
  return {
    sorted(rows) {
      if (!isKnown || asked === "-started") return rows;
      const value = values[by as RunOrderName];
      return rows.toSorted((one, other) => (isDown ? value(other) - value(one) : value(one) - value(other)));
    },
    head: (name, text) => ({
      text,
      sorted: name === by ? (isDown ? "descending" : "ascending") : undefined,
      onSort() {
        const next = name === by && isDown ? name : `-${name}`;
        changeQuery({ sort: next === "-started" ? undefined : next });
      },
    }),
  };
}
