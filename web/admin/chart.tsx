import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { period } from "../parts/format.ts";
import { Table } from "../parts/table.tsx";
import { drawPlot, type Plot, type PlotContent, type PlotSeries } from "./plot.ts";

type ChartProps = Omit<PlotContent, "showTime" | "isWhole"> & { readonly name: string; readonly isWhole?: boolean };

/**
 * Something over time. The figures of the time that is pointed at, by mouse, finger or arrow keys, stand beside the name; else those
 * of the last. A table has all of them.
 */
export function Chart({ name, kind, times, series, show, isWhole = false }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const [pointed, setPointed] = useState<number>();
  const [isTableOpen, setIsTableOpen] = useState(false);
  useEffect(() => {
    plot.current = drawPlot(holder.current!, { kind, times, series, show, isWhole, showTime: period }, setPointed);
    return () => plot.current?.remove();
  }, [kind, times, series, show, isWhole]);
  const last = times.length - 1;
  const at = Math.min(pointed ?? last, last);
  const timeAt = (index: number) =>
    index === last ? t`${{ time: period(times[index]!) }} so far` : period(times[index]!);
  const valueAt = ({ values }: PlotSeries, index: number) => {
    const value = values[index];
    return value === null || value === undefined ? "–" : show(value);
  };
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  const said = series.map((one) => [...(one.name === name ? [] : [one.name]), valueAt(one, at)].join(" "));
  return (
    <figure className="min-w-0">
      <figcaption className="flex flex-wrap justify-between">
        <span className="font-semibold">{name}</span>
        <span className="text-muted">{timeAt(at)}</span>
        <span className="flex basis-full flex-wrap gap-x-3 tabular-nums">
          {series.map((one, index) => (
            <span key={one.name}>
              {series.length > 1 && <span aria-hidden className="chart-mark" style={{ background: one.tone }} />}
              {said[index]}
            </span>
          ))}
        </span>
      </figcaption>
      <div className="relative">
        <div
          ref={holder}
          dir="ltr"
          className="chart-plot"
          role="slider"
          tabIndex={0}
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={at}
          aria-valuetext={`${timeAt(at)}: ${said.join(", ")}`}
          onKeyDown={(event) => {
            const to = targetOf(event, at, last);
            if (to === undefined) return;
            event.preventDefault();
            plot.current?.pointAt(to);
          }}
          onBlur={() => plot.current?.pointAt(undefined)}
        />
        {isEmpty && <p className="chart-empty">{t`Nothing in this period`}</p>}
      </div>
      <details onToggle={({ currentTarget }) => setIsTableOpen(currentTarget.open)}>
        <summary className="leading-6 text-muted">{t`Show as table`}</summary>
        {isTableOpen && (
          <Table name={name} head={[t`Time (UTC)`, ...series.map((one) => one.name)]} numbersFrom={1}>
            {times.map((time, index) => (
              <tr key={time}>
                <th scope="row">{timeAt(index)}</th>
                {series.map((one) => (
                  <td key={one.name} className="number">
                    {valueAt(one, index)}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        )}
      </details>
    </figure>
  );
}

/** Where a key leads to, in a drawing that runs from left to right in every language. */
function targetOf({ key }: KeyboardEvent, at: number, last: number): number | undefined {
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(0, at - 1);
    case "ArrowRight":
    case "ArrowUp":
      return Math.min(last, at + 1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
