import type { ReactNode } from "react";

type TableProps = {
  readonly name: string;
  readonly head: readonly string[];
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
  return (
    <div className="table-frame" role="region" aria-label={name} tabIndex={0}>
      <table className="dense" style={Object.fromEntries(head.map((text, at) => [`--head-${at + 1}`, quoted(text)]))}>
        <thead>
          <tr>
            {head.map((text, at) => (
              <th key={text} scope="col" className={at >= numbersFrom && at < numbersTo ? "number" : undefined}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** As a string of a style sheet. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\\n]/g, (sign) => `\\${sign.codePointAt(0)!.toString(16)} `)}"`;
}
