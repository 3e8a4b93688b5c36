import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export type PlotSeries = {
  readonly name: string;
  /** A colour as styles name it. */
  readonly tone: string;
  /** One for each time; null where nothing is known, which is left out of the line. */
  readonly values: readonly (number | null)[];
};
export type PlotContent = {
  readonly kind: "bars" | "lines";
  /** The last is not over yet. */
  readonly times: readonly string[];
  readonly series: readonly PlotSeries[];
  readonly showTime: (time: string) => string;
  readonly show: (value: number) => string;
  /** There is no half of what is counted. */
  readonly isWhole: boolean;
};
export type Plot = {
  /** Moves the pointer of this and of all other plots to a time; undefined takes it away. */
  readonly pointAt: (index: number | undefined) => void;
  readonly remove: () => void;
};

const height = 150;
const timeSteps = [1, 2, 3, 6, 7, 14, 28, 56, 91, 182, 364];
const wholeSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Draws on a canvas in `holder`, as wide as that is; `onPoint` tells which time is pointed at here or in another plot. */
export function drawPlot(
  holder: HTMLElement,
  { kind, times, series, showTime, show, isWhole }: PlotContent,
  onPoint: (index: number | undefined) => void,
): Plot {
  const last = times.length - 1;
  const color = (tone: string) => () => colorOf(holder, tone);
  const font = `12px ${getComputedStyle(holder).fontFamily}`;
  const axis = { font, stroke: color("var(--muted)"), gap: 4 };
  const lines = { width: 1, stroke: color("var(--hairline)") };
  // What is not over yet is a series of its own: dashed, so that nobody takes it for a drop.
  const parts = series.flatMap(({ tone, values }) => [
    { tone, isOpen: false, values: values.map((value, at) => (at === last ? null : value)) },
    {
      tone,
      isOpen: true,
      values: values.map((value, at) => (at >= (kind === "bars" ? last : last - 1) ? value : null)),
    },
  ]);
  const plot = new UPlot(
    {
      width: holder.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: "time" } },
      scales: {
        x: { time: false, range: () => [-0.5, last + 0.5] },
        y: { range: (_, _min, most) => [0, most > 0 ? most * 1.05 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 24,
          space: 76,
          incrs: timeSteps,
          grid: { show: false },
          ticks: { ...lines, size: 4 },
          splits: (...[, , , , step]) => timesShown(last, step),
          values: (_, places) => places.map((at) => showTime(times[at]!)),
        },
        {
          ...axis,
          space: 32,
          ...(isWhole && { incrs: wholeSteps }),
          grid: lines,
          ticks: { show: false },
          values: (_, values) => values.map(show),
          size: ({ ctx }, labels) => widthOf(ctx, font, labels ?? []) + 8,
        },
      ],
      series: [
        {},
        ...parts.map(({ tone, isOpen }): UPlot.Series => {
          const dash = isOpen ? { dash: [3, 3] } : {};
          if (kind === "lines")
            return { ...dash, stroke: color(tone), width: 2, points: { size: 5, fill: color(tone), filter: alone } };
          return {
            ...dash,
            stroke: color(tone),
            width: isOpen ? 1 : 0,
            fill: isOpen ? color(`color-mix(in oklab, ${tone} 25%, transparent)`) : color(tone),
            points: { show: false },
            paths: UPlot.paths.bars!({ size: [0.8, 48] }),
          };
        }),
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    },
    [times.map((_, at) => at), ...parts.map(({ values }) => values)],
    holder,
  );
  const stopFollowing = followColors(() => plot.redraw());
  const sizes = new ResizeObserver(() => plot.setSize({ width: holder.clientWidth, height }));
  sizes.observe(holder);
  return {
    pointAt(index) {
      const left = index === undefined ? -10 : plot.valToPos(index, "x");
      plot.setCursor({ left, top: index === undefined ? -10 : 1 });
    },
    remove() {
      stopFollowing();
      sizes.disconnect();
      plot.destroy();
    },
  };
}

/** Counted from the last, which is the one that people look for. */
function timesShown(last: number, step: number): number[] {
  const shown: number[] = [];
  for (let at = last; at >= 0; at -= step) shown.unshift(at);
  return shown;
}

/** The places of what has no neighbour to be joined with by a line. */
const alone: UPlot.Series.Points.Filter = ({ data }, of) => {
  const values = data[of]!;
  const isKnown = (at: number) => values[at] !== null && values[at] !== undefined;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
};

function widthOf(context: CanvasRenderingContext2D, font: string, labels: readonly string[]): number {
  context.save();
  context.font = font;
  const width = Math.max(0, ...labels.map((label) => context.measureText(label).width));
  context.restore();
  return Math.ceil(width);
}

/** A canvas knows no variables: what a style would make of them here. */
function colorOf(holder: HTMLElement, tone: string): string {
  const probe = holder.appendChild(document.createElement("span"));
  probe.style.color = tone;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Calls `redraw` when the page gets other colours. */
function followColors(redraw: () => void): () => void {
  const chosen = new MutationObserver(redraw);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const system = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
  for (const each of system) each.addEventListener("change", redraw);
  return () => {
    chosen.disconnect();
    for (const each of system) each.removeEventListener("change", redraw);
  };
}
