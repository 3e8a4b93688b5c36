import type { ReactNode } from "react";

/** A head that sorts by its column. */
export type SortHead = {
  readonly text: string;
  readonly sorted: "ascending" | "descending" | undefined;
  readonly onSort: () => void;
};

type TableProps = {
  readonly name: string;
  readonly head: readonly (string | SortHead)[];
  /** From which column on there are numbers; they stand at the right. */
  readonly numbersFrom?: number;
  /** The first column behind them. */
  readonly numbersTo?: number;
  readonly children: ReactNode;
};

/**
 * A dense table: its head stays, and it scrolls by itself where it is too wide or long. On a narrow screen each row is a card
 * (dense.css), whose labels are the heads.
 */
export function Table({ name, head, numbersFrom = 99, numbersTo = 99, children }: TableProps) {
  const texts = head.map((each) => (typeof each === "string" ? each : each.text));
  return (
    <div className="table-frame" role="region" aria-label={name} tabIndex={0}>
      <table className="dense" style={Object.fromEntries(texts.map((text, at) => [`--head-${at + 1}`, quoted(text)]))}>
        <thead>
          <tr>
            {head.map((each, at) => (
              <th
                key={texts[at]}
                scope="col"
                aria-sort={typeof each === "string" ? undefined : (each.sorted ?? "none")}
                className={at >= numbersFrom && at < numbersTo ? "number" : undefined}
              >
                {typeof each === "string" ? each : <SortButton {...each} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function SortButton({ text, sorted, onSort }: SortHead) {
  return (
    <button type="button" className="sort-button" onClick={onSort}>
      {text}
      <span aria-hidden>{sorted === undefined ? "" : sorted === "ascending" ? " ↑" : " ↓"}</span>
    </button>
  );
}

/** As a string of a style sheet. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\\n]/g, (sign) => `\\${sign.codePointAt(0)!.toString(16)} `)}"`;
}
