import { summarize } from "./statistics.ts";

/**
 * What a measured value is held against.
 * `ratio`: the median over the rounds of value / reference of the same round; `added`: of value - reference; `value`: of the value.
 */
export type Bar =
  | { readonly kind: "ratio" | "added" | "value"; readonly max: number }
  /** Of the value, which must not be less. */
  | { readonly kind: "least"; readonly min: number };

/** One line of a table: a value per round, and the reference's value in the same round. */
export type Row = {
  readonly part: string;
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly reference?: readonly number[];
  readonly bar?: Bar;
  readonly note?: string;
};

export type Verdict = { readonly figure: number; readonly over: boolean };

/** The figure that stands against the bar; without a bar the ratio, else the value. */
export function judge(row: Row): Verdict {
  const kind = row.bar?.kind ?? (row.reference ? "ratio" : "value");
  const figures = row.values.map((value, round) => {
    const reference = row.reference?.[round] ?? NaN;
    return kind === "ratio" ? value / reference : kind === "added" ? value - reference : value;
  });
  const figure = summarize(figures).median;
  // A figure that is not a number is a measurement that failed, never a pass.
  return { figure, over: row.bar !== undefined && !isWithin(row.bar, figure) };
}

function isWithin(bar: Bar, figure: number): boolean {
  return bar.kind === "least" ? figure >= bar.min : figure <= bar.max;
}

function number(value: number): string {
  if (Number.isNaN(value)) return "-";
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

function spread(values: readonly number[] | undefined): string {
  if (!values || values.length === 0) return "";
  const { median, min, max } = summarize(values);
  return values.length === 1 ? number(median) : `${number(median)} [${number(min)}–${number(max)}]`;
}

function figureText(row: Row, figure: number): string {
  if (row.bar?.kind === "added") return `+${number(figure)}`;
  if (row.bar?.kind === "value") return number(figure);
  if (row.bar?.kind === "least") return figure.toFixed(3);
  return row.reference ? `${number(figure)}×` : "";
}

function barText(bar: Bar | undefined): string {
  if (!bar) return "";
  if (bar.kind === "least") return `≥ ${bar.min}`;
  return bar.kind === "ratio" ? `≤ ${bar.max}×` : bar.kind === "added" ? `≤ +${bar.max}` : `≤ ${bar.max}`;
}

const titles = ["part", "measured", "unit", "reference", "here", "figure", "bar", "", ""];

function cells(row: Row): string[] {
  const { figure, over } = judge(row);
  const verdict = row.bar ? (over ? "OVER" : "PASS") : "";
  return [
    row.part,
    row.name,
    row.unit,
    spread(row.reference),
    spread(row.values),
    figureText(row, figure),
    barText(row.bar),
    verdict,
    row.note ?? "",
  ];
}

/** A text table; as Markdown on request. */
export function table(rows: readonly Row[], format: "text" | "markdown" = "text"): string {
  const lines = [titles, ...rows.map(cells)];
  if (format === "markdown") {
    const [head = titles, ...rest] = lines.map((line) => `| ${line.join(" | ")} |`);
    return [head, `|${"---|".repeat(titles.length)}`, ...rest].join("\n");
  }
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
