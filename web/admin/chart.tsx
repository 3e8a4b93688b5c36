import type { ReactNode } from "react";
import { period } from "../parts/format.ts";

export type ChartPoint = { readonly at: string; readonly value: number };

/** One idea over time, as bars; the highest and the last have their number on them. */
export function Bars({
  name,
  points,
  show,
  tone = "var(--accent)",
}: {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  readonly show: (value: number) => string;
  readonly tone?: string;
}) {
  const most = Math.max(0, ...points.map(({ value }) => value));
  const peak = points.findIndex(({ value }) => value === most);
  const width = 100 / Math.max(1, points.length);
  return (
    <Chart
      name={name}
      points={points}
      summary={points.map(({ at, value }) => `${period(at)}: ${show(value)}`)}
      label={most > 0 && <Label at={(peak + 0.5) * width}>{show(most)}</Label>}
    >
      {points.map(({ at, value }, index) => (
        <rect
          key={at}
          x={index * width + width * 0.1}
          y={most === 0 ? 100 : 100 - (value / most) * 100}
          width={width * 0.8}
          height={most === 0 ? 0 : (value / most) * 100}
          fill={tone}
          opacity={index === points.length - 1 ? 1 : 0.55}
        >
          <title>{`${period(at)}: ${show(value)}`}</title>
        </rect>
      ))}
    </Chart>
  );
}

export type ChartLine = { readonly name: string; readonly tone: string; readonly values: readonly (number | null)[] };

/** Lines over the same times; each has its name and last number at its end. */
export function Lines({
  name,
  times,
  lines,
  show,
}: {
  readonly name: string;
  readonly times: readonly string[];
  readonly lines: readonly ChartLine[];
  readonly show: (value: number) => string;
}) {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const step = 100 / Math.max(1, times.length);
  const summary = times.flatMap((at, index) => {
    const told = lines.flatMap(({ name: of, values }) => {
      const value = values[index];
      return value === null || value === undefined ? [] : [`${of} ${show(value)}`];
    });
    return told.length > 0 ? [`${period(at)}: ${told.join(", ")}`] : [];
  });
  return (
    <Chart
      name={name}
      points={times.map((at) => ({ at }))}
      summary={summary}
      beside={lines.map(({ name: of, tone, values }) => {
        const last = values.findLast((value) => value !== null);
        return last === undefined || last === null ? null : (
          <span key={of}>
            <span aria-hidden className="chart-mark" style={{ color: tone }}>
              ━
            </span>{" "}
            {of} {show(last)}
          </span>
        );
      })}
    >
      {lines.map(({ name: of, tone, values }) => (
        <g key={of} stroke={tone} fill={tone}>
          {partsOf(values).map((part) => (
            <polyline
              key={part[0]!.index}
              points={part.map(({ index, value }) => `${(index + 0.5) * step},${100 - (value / most) * 96}`).join(" ")}
              fill="none"
              strokeWidth={2}
              strokeLinecap="round"
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </g>
      ))}
    </Chart>
  );
}

/** What is known without a break; one alone is drawn as a short stroke. */
function partsOf(values: readonly (number | null)[]): readonly (readonly { index: number; value: number }[])[] {
  const parts: { index: number; value: number }[][] = [];
  let part: { index: number; value: number }[] = [];
  values.forEach((value, index) => {
    if (value === null) part = [];
    else {
      if (part.length === 0) parts.push(part);
      part.push({ index, value });
    }
  });
  return parts.map((each) => (each.length === 1 ? [each[0]!, { ...each[0]!, index: each[0]!.index + 0.3 }] : each));
}

type ChartProps = {
  readonly name: string;
  readonly points: readonly { readonly at: string }[];
  /** The same in words, for who does not see it. */
  readonly summary: readonly string[];
  readonly beside?: ReactNode;
  /** Stands on the drawing. */
  readonly label?: ReactNode;
  readonly children: ReactNode;
};

function Chart({ name, points, summary, beside, label, children }: ChartProps) {
  return (
    <figure className="min-w-0">
      <figcaption className="flex flex-wrap gap-x-3">
        <span className="font-semibold">{name}</span>
        {beside}
      </figcaption>
      <div dir="ltr" className="chart-plot">
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={`${name}. ${summary.join("; ")}`}>
          {children}
        </svg>
        {label}
      </div>
      <div dir="ltr" className="flex justify-between text-muted">
        <span>{points[0] && period(points[0].at)}</span>
        <span>{points.at(-1) && period(points.at(-1)!.at)}</span>
      </div>
    </figure>
  );
}

/** `at`: percent from the left. */
function Label({ at, children }: { readonly at: number; readonly children: ReactNode }) {
  return (
    <span
      className="chart-label"
      data-side={at < 15 ? "left" : at > 85 ? "right" : undefined}
      style={{ left: `${at}%` }}
    >
      {children}
    </span>
  );
}
