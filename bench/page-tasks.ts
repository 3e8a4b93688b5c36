import type { Browser, Page } from "playwright-core";

/** The longest task of a page's main thread, in milliseconds of its CPU and of the clock. */
export type LongestTask = { readonly cpuMs: number; readonly wallMs: number };

type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds, of the clock and of the thread's CPU. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

/**
 * The longest task while something happens. What others do on the machine makes a task last longer, so its CPU is what is compared;
 * `BENCH_TRACES` names a folder that the traces are left in.
 */
export async function longestTask(browser: Browser, page: Page, act: () => Promise<unknown>): Promise<LongestTask> {
  const folder = process.env["BENCH_TRACES"];
  await browser.startTracing(page, {
    categories: ["disabled-by-default-devtools.timeline", ...(folder ? ["devtools.timeline", "v8", "blink"] : [])],
    ...(folder && { path: `${folder}/${Date.now()}.json` }),
  });
  let trace: Buffer;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const placeOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const pages = new Set(traceEvents.filter(({ args }) => args?.name === "CrRendererMain").map(placeOf));
  const tasks = traceEvents.filter((event) => event.name === "RunTask" && pages.has(placeOf(event)));
  if (tasks.length === 0) throw new Error("the trace tells of no tasks");
  return {
    cpuMs: Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000,
    wallMs: Math.max(...tasks.map(({ dur = 0 }) => dur)) / 1000,
  };
}
