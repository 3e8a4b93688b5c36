import { type KeyboardEvent, useEffect, useRef } from "react";
import { t } from "@lingui/core/macro";
import { duration, figure } from "../parts/format.ts";
import { marks } from "../parts/grade.ts";
import { rowState, rowTitle } from "./row-texts.ts";
import type { TimeAxis } from "./time-axis.ts";
import { stepUse, workedMs } from "./row-figures.ts";
import type { ShownRow, TraceRow } from "./trace-rows.ts";
const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** A moment at which a process took the run again. */
export type AxisMark = { readonly time: number; readonly over: boolean; readonly text: string };

type WaterfallProps = {
  readonly rows: readonly ShownRow[];
  readonly axis: TimeAxis;
  readonly begin: number;
  readonly now: number;
  readonly marks: readonly AxisMark[];
  readonly chosen: string | undefined;
  /** Undefined: none any more. */
  readonly onChoose: (key: string | undefined) => void;
  readonly onFold: (key: string, isFolded: boolean) => void;
};

/** One line for each thing that happened, and beside it when; what the bars show stands in the columns too. */
export function Waterfall({ rows, axis, begin, now, marks: takes, chosen, onChoose, onFold }: WaterfallProps) {
  const grid = useRef<HTMLDivElement>(null);
  const at = rows.findIndex(({ row }) => row.key === chosen);
  const hasFocus = useRef(false);
  useEffect(() => {
    if (hasFocus.current) grid.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }, [chosen]);

  function onKeyDown(event: KeyboardEvent): void {
    const { key } = event;
    const current = rows[at];
    const to = (place: number) => rows[Math.min(Math.max(place, 0), rows.length - 1)];
    const next = { ArrowDown: to(at + 1), ArrowUp: to(at - 1), Home: to(0), End: to(rows.length - 1) }[key];
    if (next) onChoose(next.row.key);
    else if (key === "Escape" && current) onChoose(undefined);
    else if (key === "ArrowRight" && current && current.row.below.length > 0) onFold(current.row.key, false);
    else if (key === "ArrowLeft" && current?.isOpen) onFold(current.row.key, true);
    else return;
    event.preventDefault();
  }

  return (
    <div
      ref={grid}
      role="treegrid"
      aria-label={t`Timeline`}
      className="trace"
      onKeyDown={onKeyDown}
      onFocus={() => (hasFocus.current = true)}
      onBlur={() => (hasFocus.current = false)}
    >
      <div role="row" className="trace-row trace-head">
        <span role="columnheader">{t`What`}</span>
        <span role="columnheader" className="trace-number">
          {t`After`}
        </span>
        <span role="columnheader" className="trace-number">
          {t`Duration`}
        </span>
        <span role="columnheader" className="trace-number trace-tokens">
          {t`Tokens`}
        </span>
        <span role="columnheader" className="trace-axis">
          <span className="sr-only">{t`Timeline`}</span>
          <span aria-hidden className="trace-ticks">
            {axis.ticks.map((tick) => (
              <span key={tick.time} className="trace-tick" style={{ left: percent(tick.at) }}>
                {duration(tick.time)}
              </span>
            ))}
            {takes.map((take) => (
              <span
                key={take.time}
                className="trace-take"
                data-over={take.over}
                title={take.text}
                style={{ left: percent(axis.at(take.time)) }}
              />
            ))}
          </span>
        </span>
      </div>
      {rows.map((shown) => (
        <Line
          key={shown.row.key}
          shown={shown}
          axis={axis}
          begin={begin}
          now={now}
          takes={takes}
          isChosen={shown.row.key === chosen}
          isEntry={at === -1 ? shown === rows[0] : shown.row.key === chosen}
          onChoose={onChoose}
          onFold={onFold}
        />
      ))}
    </div>
  );
}

type WaterfallLineProps = Pick<WaterfallProps, "axis" | "begin" | "now" | "onChoose" | "onFold"> & {
  readonly shown: ShownRow;
  readonly takes: readonly AxisMark[];
  readonly isChosen: boolean;
  /** Where the tabulator comes in. */
  readonly isEntry: boolean;
};

function Line({ shown, axis, begin, now, takes, isChosen, isEntry, onChoose, onFold }: WaterfallLineProps) {
  const { row, depth, isOpen } = shown;
  const title = rowTitle(row);
  const state = rowState(row);
  const isMoment = row.to === row.from;
  const use = stepUse(row);
  const canFold = row.below.length > 0;
  return (
    <div
      role="row"
      aria-level={depth}
      aria-selected={isChosen}
      aria-expanded={canFold ? isOpen : undefined}
      tabIndex={isEntry ? 0 : -1}
      className="trace-row"
      onClick={() => onChoose(row.key)}
    >
      <span role="gridcell" className="trace-name" style={{ paddingLeft: (depth - 1) * 16 }}>
        {canFold ? (
          <button
            type="button"
            tabIndex={-1}
            className="trace-fold"
            aria-label={isOpen ? t`Collapse ${{ what: title }}` : t`Expand ${{ what: title }}`}
            onClick={(event) => {
              event.stopPropagation();
              onFold(row.key, isOpen);
            }}
          >
            {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span aria-hidden className="trace-mark" data-grade={row.grade}>
            {marks[row.grade]}
          </span>
        )}
        <span className={row.kind === "call" ? "font-mono" : undefined}>{title}</span>
        {state !== "" && <span className="trace-state">{state}</span>}
        {row.kind !== "end" && row.text !== "" && <span className="trace-text">{row.text}</span>}
      </span>
      <span role="gridcell" className="trace-number">
        {duration(row.from - begin)}
      </span>
      <span role="gridcell" className="trace-number">
        {row.to === undefined ? t`continues` : isMoment ? "" : duration(workedMs(row)!)}
      </span>
      <span role="gridcell" className="trace-number trace-tokens">
        {use && use.tokens > 0 ? figure(use.tokens) : ""}
      </span>
      <span role="gridcell" className="trace-axis">
        <span aria-hidden className="trace-plot">
          {axis.breaks.map((gap) => (
            <span
              key={gap.from}
              className="trace-break"
              style={{ left: percent(gap.start), width: percent(gap.end - gap.start) }}
            />
          ))}
          {takes.map((take) => (
            <span
              key={take.time}
              className="trace-take"
              data-over={take.over}
              style={{ left: percent(axis.at(take.time)) }}
            />
          ))}
          {isMoment ? (
            <span className="trace-moment" data-grade={row.grade} style={{ left: percent(axis.at(row.from)) }} />
          ) : (
            <Bar row={row} axis={axis} now={now} />
          )}
        </span>
      </span>
    </div>
  );
}

/** Of a step each try, with the time to its first token lighter than what follows. */
function Bar({ row, axis, now }: { readonly row: TraceRow; readonly axis: TimeAxis; readonly now: number }) {
  const part = (from: number, to: number) => ({
    left: percent(axis.at(from)),
    width: percent(Math.max(0, axis.at(to) - axis.at(from))),
  });
  if (row.kind === "step" && row.modelCalls.length > 0)
    return row.modelCalls.map((call) => {
      const from = Date.parse(call.startedAt);
      const first = call.firstPartMs === null ? from + call.totalMs : from + call.firstPartMs;
      return (
        <span key={call.id} className="contents">
          <span className="trace-bar" data-kind="first" data-failed={call.error !== null} style={part(from, first)} />
          <span
            className="trace-bar"
            data-kind="step"
            data-failed={call.error !== null}
            style={part(first, from + call.totalMs)}
          />
        </span>
      );
    });
  const to = row.to ?? now;
  const from = Math.min(row.workedFrom ?? row.from, to);
  return (
    <>
      {from > row.from && <span className="trace-bar" data-kind="asked" style={part(row.from, from)} />}
      {from < to && (
        <span
          className="trace-bar"
          data-kind={row.kind}
          data-failed={row.grade === "bad"}
          data-live={row.to === undefined}
          style={part(from, to)}
        />
      )}
    </>
  );
}
