import type {
  TracedModelCall,
  TracedItem,
  LedgerRow,
  RunDetailsView,
  TracedRunView,
} from "../../src/protocol/threads/run-trace.ts";
import { isEnded } from "../../src/protocol/threads/runs.ts";
import { failedExitCode } from "../parts/exit-code.ts";
import type { Grade } from "../parts/grade.ts";

export type RowKind =
  | "message"
  | "step"
  | "call"
  | "wait"
  | "run"
  | "plan"
  | "summary"
  | "notice"
  | "strategy"
  | "lost"
  | "resume"
  | "end";

/** One line of the waterfall, and what it stands on. */
export type TraceRow = {
  readonly key: string;
  readonly kind: RowKind;
  readonly run: TracedRunView;
  /** Of a tool, an agent, a model; empty where the kind says enough. */
  readonly name: string;
  /** The beginning of its words. */
  readonly text: string;
  readonly from: number;
  /** Of a call that first waited for an answer: when it came. */
  readonly workedFrom?: number;
  /** Absent: it goes on. A moment where it is the same as `from`. */
  readonly to: number | undefined;
  readonly grade: Grade;
  readonly error?: string;
  /** A call that a person did not allow. */
  readonly isDenied?: true;
  /** What went in and what came out, as they stand in the log. */
  readonly input?: TracedItem;
  readonly output?: TracedItem;
  /** Each try of a step. */
  readonly modelCalls: readonly TracedModelCall[];
  readonly write?: LedgerRow;
  readonly below: readonly TraceRow[];
};

/** What happened as a tree: what belongs to a call stands below it, all else in the order in which it began. */
export function traceRows(details: RunDetailsView): TraceRow[] {
  const [root] = details.runs;
  return root ? rowsOfRun(details, root) : [];
}

function rowsOfRun(details: RunDetailsView, run: TracedRunView): TraceRow[] {
  const items = details.items.filter((item) => item.runId === run.id);
  const over = run.endedAt === null ? undefined : Date.parse(run.endedAt);
  const rows = [
    ...items.flatMap((item) => rowOfItem(item, { details, items, run, over })),
    ...stepRows(details, items, run),
    ...waitRows(items, run, over),
  ];
  rows.push(...lostRows(rows, run));
  const children = details.runs.filter(({ parentRun }) => parentRun === run.id);
  const working = workingStep(rows, run, children);
  const below = [...rows, ...(working ? [working] : []), ...children.map((child) => rowOfChild(details, child))];
  return nested(below.toSorted((a, b) => a.from - b.from || order.indexOf(a.kind) - order.indexOf(b.kind)));
}

const order: readonly RowKind[] = [
  "message",
  "strategy",
  "step",
  "plan",
  "call",
  "run",
  "wait",
  "summary",
  "notice",
  "lost",
  "end",
  "resume",
];
const at = (item: TracedItem) => Date.parse(item.createdAt);
const fact = (item: TracedItem, name: string) => {
  const value = item.facts[name];
  return typeof value === "string" ? value : "";
};

type TraceContext = {
  readonly details: RunDetailsView;
  readonly items: readonly TracedItem[];
  readonly run: TracedRunView;
  readonly over: number | undefined;
};

function rowOfItem(item: TracedItem, { details, items, run, over }: TraceContext): TraceRow[] {
  const moment = {
    key: item.id,
    run,
    name: "",
    text: item.text ?? "",
    from: at(item),
    to: at(item),
    modelCalls: [],
    below: [],
  };
  switch (item.kind) {
    case "message":
      return fact(item, "role") === "assistant" && item.step !== null
        ? []
        : [{ ...moment, kind: "message", name: item.author ?? "", grade: "quiet", input: item }];
    case "call": {
      const output = resultOf(items, item);
      const write = details.ledger.find(
        (one) => one.runId === run.id && one.step === item.step && one.index === item.index,
      );
      const asked = items.filter(
        (one) =>
          one.kind === "question" &&
          ((one.step === item.step && one.index === item.index) || isHeldBack(item, one, output)),
      );
      const decided = items.findLast(
        (one) => one.kind === "decision" && asked.some(({ id }) => id === fact(one, "question")),
      );
      const isStopped = decided !== undefined && fact(decided, "decision") === "stop";
      const workedFrom = isStopped
        ? Infinity
        : decided
          ? at(decided)
          : asked.length > 0
            ? (over ?? Infinity)
            : undefined;
      // Nothing went wrong: somebody did not want it.
      const isDenied = decided !== undefined && fact(decided, "decision") === "deny";
      const failed = output?.facts["isError"] === true && !isDenied;
      const outcome = output ? fact(output, "outcome") : "";
      const isUnknown = outcome === "unknown" || write?.status === "unknown";
      return [
        {
          ...moment,
          kind: "call",
          name: fact(item, "name"),
          to: output ? at(output) : over,
          ...(workedFrom === undefined ? {} : { workedFrom }),
          grade: isUnknown || outcome !== "" ? "warn" : failed ? "bad" : output && !isDenied ? endOf(output) : "quiet",
          ...(isDenied ? { isDenied: true as const } : {}),
          ...(failed && output?.text ? { error: output.text } : {}),
          input: item,
          ...(output ? { output } : {}),
          ...(write ? { write } : {}),
        },
      ];
    }
    case "question": {
      const output = items.find((one) => one.kind === "decision" && fact(one, "question") === item.id);
      return [
        {
          ...moment,
          kind: "wait",
          name: fact(item, "reason"),
          to: output ? at(output) : over,
          grade: output
            ? ["deny", "stop", "failed", "decline"].includes(fact(output, "decision"))
              ? "quiet"
              : "ok"
            : "warn",
          input: item,
          ...(output ? { output } : {}),
        },
      ];
    }
    case "plan":
    case "summary":
    case "notice":
      return [{ ...moment, kind: item.kind, grade: item.kind === "notice" ? "warn" : "quiet", output: item }];
    case "state":
      if (fact(item, "type") === "run-end") {
        const status = fact(item, "status");
        const grade = status === "done" ? "ok" : status === "failed" ? "bad" : "quiet";
        return [
          {
            ...moment,
            kind: "end",
            name: status,
            grade,
            ...(status === "failed" ? { error: item.text ?? "" } : {}),
            output: item,
          },
        ];
      }
      if (fact(item, "type") === "run-resume") return [{ ...moment, kind: "resume", grade: "quiet", output: item }];
      if (fact(item, "type") === "strategy")
        return [{ ...moment, kind: "strategy", name: fact(item, "strategy"), grade: "quiet", output: item }];
      return [];
    case "result":
    case "decision":
      return [];
  }
}

/** The last one, unless a resume has withdrawn it. */
function resultOf(items: readonly TracedItem[], call: TracedItem): TracedItem | undefined {
  const last = items.findLast(
    ({ kind, step, index }) => (kind === "result" || kind === "state") && step === call.step && index === call.index,
  );
  return last?.kind === "result" ? last : undefined;
}

/** By a limit that was reached before the call was made. Time runs out while it is made. */
function isHeldBack(call: TracedItem, question: TracedItem, output: TracedItem | undefined): boolean {
  const isBetween = question.seq > call.seq && (output === undefined || question.seq < output.seq);
  return isBetween && fact(question, "reason") === "limit" && fact(question, "limit") !== "deadline";
}

function endOf(output: TracedItem): Grade {
  return failedExitCode(output.facts) === undefined ? "ok" : "warn";
}

/** A step: its message, with every time that a model was asked for it. */
function stepRows(details: RunDetailsView, items: readonly TracedItem[], run: TracedRunView): TraceRow[] {
  const calls = Map.groupBy(
    details.modelCalls.filter((call) => call.runId === run.id && call.step !== null),
    (call) => call.step!,
  );
  const messages = new Map(
    items
      .filter((item) => item.kind === "message" && item.step !== null && fact(item, "role") === "assistant")
      .map((item) => [item.step!, item]),
  );
  return [...new Set([...calls.keys(), ...messages.keys()])].map((step): TraceRow => {
    const modelCalls = calls.get(step) ?? [];
    const message = messages.get(step);
    const first = modelCalls[0];
    const last = modelCalls.at(-1);
    const from = first ? Date.parse(first.startedAt) : at(message!);
    const answered = last ? Date.parse(last.startedAt) + last.totalMs : at(message!);
    const error = message === undefined ? (last?.error ?? undefined) : undefined;
    return {
      key: `${run.id}/${step}`,
      kind: "step",
      run,
      name: step,
      text: message?.text ?? "",
      from,
      to: Math.max(from, answered),
      grade: error !== undefined ? "bad" : modelCalls.some((call) => call.error !== null) ? "warn" : "ok",
      ...(error === undefined ? {} : { error }),
      ...(message ? { output: message } : {}),
      modelCalls,
      below: [],
    };
  });
}

/** From the last that a process told until another took over: what it did meanwhile nobody knows. */
function lostRows(rows: readonly TraceRow[], run: TracedRunView): TraceRow[] {
  return run.takes.flatMap((take, place): TraceRow[] => {
    const to = Date.parse(take.at);
    const before = run.takes[place - 1];
    if (!take.over || !before) return [];
    const told = rows
      .map((row) => (row.to !== undefined && row.to < to ? row.to : row.from))
      .filter((time) => time < to);
    const from = Math.max(Date.parse(before.at), ...told);
    return [
      {
        key: `${run.id}/lost/${take.epoch}`,
        kind: "lost",
        run,
        name: before.node.slice(-4),
        text: "",
        from,
        to,
        grade: "warn",
        modelCalls: [],
        below: [],
      },
    ];
  });
}

/** What a run waits for elsewhere: its questions are rows of their own, those of runs below it stand there. */
function waitRows(items: readonly TracedItem[], run: TracedRunView, over: number | undefined): TraceRow[] {
  const questions = items.filter((item) => item.kind === "question");
  return items
    .filter((item) => fact(item, "type") === "run-wait" && fact(item, "reason") === "client")
    .filter((item) => !questions.some((question) => question.seq === item.seq - 1))
    .map((item): TraceRow => {
      const again = run.takes.map((take) => Date.parse(take.at)).find((time) => time > at(item));
      return {
        key: item.id,
        kind: "wait",
        run,
        name: fact(item, "reason"),
        text: item.text ?? "",
        from: at(item),
        to: again ?? over,
        grade: again === undefined && over === undefined ? "warn" : "ok",
        input: item,
        modelCalls: [],
        below: [],
      };
    });
}

/** Of a model that is asked at this moment nothing stands in the log yet. */
function workingStep(
  rows: readonly TraceRow[],
  run: TracedRunView,
  children: readonly TracedRunView[],
): TraceRow | undefined {
  const isBusy = rows.some((row) => row.to === undefined) || children.some(({ status }) => !isEnded(status));
  if (run.status !== "running" || isBusy) return undefined;
  const takes = run.takes.map((take) => Date.parse(take.at));
  const from = Math.max(...rows.map((row) => row.to ?? row.from), takes.at(-1) ?? Date.parse(run.createdAt));
  return {
    key: `${run.id}/now`,
    kind: "step",
    run,
    name: "",
    text: "",
    from,
    to: undefined,
    grade: "quiet",
    modelCalls: [],
    below: [],
  };
}

function rowOfChild(details: RunDetailsView, child: TracedRunView): TraceRow {
  const grades = {
    queued: "quiet",
    running: "quiet",
    waiting: "warn",
    done: "ok",
    failed: "bad",
    cancelled: "quiet",
  } as const;
  return {
    key: child.id,
    kind: "run",
    run: child,
    name: child.agent,
    text: details.items.find((item) => item.runId === child.id && item.kind === "message")?.text ?? "",
    from: Date.parse(child.startedAt ?? child.createdAt),
    to: child.endedAt === null ? undefined : Date.parse(child.endedAt),
    grade: grades[child.status],
    ...(child.error ? { error: child.error.message } : {}),
    modelCalls: [],
    below: rowsOfRun(details, child),
  };
}

/** Steps that a tool asked for (`1.0/1`) and runs that a call stands for go below their call. */
function nested(rows: readonly TraceRow[]): TraceRow[] {
  const callOf = (row: TraceRow) => {
    const place =
      row.kind === "run" ? row.run.parentCall : row.kind === "step" ? row.key.slice(row.run.id.length + 1) : null;
    if (place === null || (row.kind === "step" && !place.includes("/"))) return undefined;
    return rows.find(
      ({ kind, input }) =>
        kind === "call" &&
        (place === `${input!.step}.${input!.index}` || place.startsWith(`${input!.step}.${input!.index}/`)),
    );
  };
  const parents = new Map(rows.map((row) => [row, callOf(row)]));
  const build = (row: TraceRow): TraceRow => {
    const below = rows.filter((one) => parents.get(one) === row).map(build);
    return below.length === 0 ? row : { ...row, below: [...row.below, ...below] };
  };
  return rows.filter((row) => parents.get(row) === undefined).map(build);
}

export type ShownRow = { readonly row: TraceRow; readonly depth: number; readonly isOpen: boolean };

/** In the order of the page, without what is folded away. */
export function shownRows(rows: readonly TraceRow[], folded: ReadonlySet<string>, depth = 1): ShownRow[] {
  return rows.flatMap((row) => {
    const isOpen = row.below.length > 0 && !folded.has(row.key);
    return [{ row, depth, isOpen }, ...(isOpen ? shownRows(row.below, folded, depth + 1) : [])];
  });
}
