import { useEffect, useMemo, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import { whyFailed } from "../conversation/why-failed.ts";
import type { RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import type { QuestionView } from "../../src/protocol/threads/run-shapes.ts";
import { isEnded } from "../../src/protocol/threads/runs.ts";
import { Question } from "../turn/question.tsx";
import { useHasPanelRoom } from "../browser/screen-width.ts";
import { useMe } from "../page/me.ts";
import { duration, time } from "../parts/format.ts";
import { Act } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { Budget } from "./budget.tsx";
import { CompareButton } from "./compare-choice.tsx";
import { RowDetail } from "./row-detail.tsx";
import { runTitle } from "../run-list/run-title.ts";
import { RunState } from "../run-list/run-state.tsx";
import { adminRuns } from "../run-list/runs-client.ts";
import { timeAxis } from "./time-axis.ts";
import { shownRows, type TraceRow, traceRows } from "./trace-rows.ts";
import { useNow, useRun } from "./use-run.ts";
import { type AxisMark, Waterfall } from "./waterfall.tsx";
const maxShown = 2000;
const oneBelowTheOther = "grid grid-cols-[minmax(0,1fr)] gap-3";
const besideEachOther = "grid grid-cols-[minmax(0,3fr)_minmax(0,2fr)] items-start gap-6";
/** Stays in sight beside a long timeline, and is read to its end without leaving it. */
const ownScroll = "sticky top-2 max-h-[calc(100dvh-1rem)] overflow-y-auto";

/** One run: how it stands, what it waits for, and all that happened in it. */
export function RunPage({ id }: { readonly id: string }) {
  const [isWhole, setWhole] = useState(false);
  const seen = useRun(id, isWhole ? maxShown : undefined);
  const { data } = seen;
  return (
    <>
      <PageLink to="/runs">{t`All runs`}</PageLink>
      <Waiting of={seen} />
      {data && (
        <>
          <Head data={data} onChange={seen.reload} />
          {data.questions.map((question) => (
            <OpenQuestion key={question.id} question={question} ownerId={data.run.userId} onDecided={seen.reload} />
          ))}
          <Trace data={data} aheadMs={seen.aheadMs} onChange={seen.reload} />
          {!data.whole && (
            <p className="flex flex-wrap items-center gap-2 text-muted">
              {t`Showing only the latest part.`}
              {!isWhole && (
                <button type="button" className="button" onClick={() => setWhole(true)}>
                  {t`Show all`}
                </button>
              )}
            </p>
          )}
        </>
      )}
    </>
  );
}

function Head({ data, onChange }: { readonly data: RunDetailsView; readonly onChange: () => void }) {
  const { run, runs, items, modelCalls, job, budget, origin } = data;
  const me = useMe();
  const isMine = me?.id === run.userId;
  const began = items.find((item) => item.runId === run.id && (item.kind === "message" || item.kind === "call"));
  // The turns of a room speak in its own thread, delegated runs in threads that nobody sees.
  const isRoom = runs.slice(1).some(({ threadId }) => threadId === run.threadId);
  const models = [...new Set(modelCalls.map(({ model }) => model))];
  const begin = beginOf(data);
  const took = run.endedAt === null ? undefined : Date.parse(run.endedAt) - begin;
  const takes = (runs[0]?.takes ?? []).slice(1);
  const facts = [
    ...(isMine ? [] : [run.userName]),
    `@${run.agent}`,
    `${t`started`} ${time(run.createdAt)}`,
    ...(took === undefined ? [] : [`${t`duration`} ${duration(took)}`]),
    ...models,
    ...(run.waitUntil === null || isEnded(run.status)
      ? []
      : [t`waits until ${{ until: time(run.waitUntil) }} at most`]),
    ...(job && job.state !== "active" && run.status === "queued" ? [t`waiting for a worker`] : []),
    ...(job?.heartbeatSeconds != null && job.heartbeatSeconds > 15
      ? [t`last heartbeat ${{ seconds: duration(job.heartbeatSeconds * 1000) }} ago`]
      : []),
  ];
  return (
    <section className="grid gap-2" aria-labelledby="run-title">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <h1 id="run-title" className="run-title">
          <bdi>{runTitle(run)}</bdi>
        </h1>
        <span role="status">
          <RunState {...run} />
        </span>
      </div>
      <p className="text-muted">{facts.join(" · ")}</p>
      {run.error && <p className="text-bad">{whyFailed(run.error.message, run.error.code)}</p>}
      {takes.length > 0 && (
        <ul className="grid gap-0.5">
          {takes.slice(-5).map((take) => (
            <li key={take.epoch} className={take.over ? undefined : "text-muted"}>
              {take.over && (
                <span aria-hidden className="text-warn">
                  ▲{" "}
                </span>
              )}
              {takeText(take, begin)}
            </li>
          ))}
        </ul>
      )}
      <div className="flex flex-wrap items-center gap-3">
        {isMine && run.parentRun === null && !run.agent.startsWith("tool:") && (
          <PageLink to={isRoom ? `/rooms/${run.threadId}` : `/chat/${run.threadId}${began ? `?item=${began.id}` : ""}`}>
            {t`Open conversation`}
          </PageLink>
        )}
        {origin && (
          <PageLink to={`/runs/${origin.run}`}>
            {origin.kind === "fork"
              ? t`Forked from another run after step ${{ step: origin.step ?? "" }}`
              : t`Rerun of another run`}
          </PageLink>
        )}
        {run.parentRun !== null && <PageLink to={`/runs/${run.parentRun}`}>{t`Parent run`}</PageLink>}
        {(run.status === "failed" || run.status === "cancelled") && run.parentRun === null && (
          <Act
            look="button-main"
            name={`${t`Resume`}: ${t`Continues the same run where it stopped. Completed work isn't repeated.`}`}
            onAct={() => client.resume(run.id).then(onChange)}
          >
            {t`Resume`}
          </Act>
        )}
        <CompareButton run={run} origin={origin} />
        {!isEnded(run.status) && (
          <Act onAct={() => (isMine ? client.cancel(run.id) : adminRuns.cancel(run.id)).then(onChange)}>{t`Stop`}</Act>
        )}
      </div>
      {budget && <Budget budget={budget} hasEnded={isEnded(run.status)} />}
    </section>
  );
}

function takeText(take: { readonly node: string; readonly at: string; readonly over: boolean }, begin: number): string {
  const say = take.over
    ? (node: string, when: string) => t`taken over by …${node} after ${when}`
    : (node: string, when: string) => t`started by …${node} after ${when}`;
  return say(take.node.slice(-4), duration(Date.parse(take.at) - begin));
}

type OpenQuestionProps = {
  readonly question: QuestionView;
  readonly ownerId: string;
  readonly onDecided: () => void;
};

/** Decided in place by whoever the run works for; others see what it waits for. */
function OpenQuestion({ question, ownerId, onDecided }: OpenQuestionProps) {
  const me = useMe();
  const { id, runId, threadId: _thread, decisions: _decisions, createdAt: _at, ...body } = question;
  if (me?.id !== ownerId)
    return (
      <p>
        <span aria-hidden className="text-warn">
          ▲{" "}
        </span>
        {body.text}
      </p>
    );
  return (
    <Question
      question={{ kind: "question", key: id, id, run: runId, body }}
      onDecide={async (input) => {
        await client.decide({ id, runId }, input);
        onDecided();
      }}
    />
  );
}

type TraceProps = { readonly data: RunDetailsView; readonly aheadMs: number; readonly onChange: () => void };

function Trace({ data, aheadMs, onChange }: TraceProps) {
  const chosen = useQuery().get("row") ?? undefined;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const isLive = !isEnded(data.run.status);
  const now = useNow(isLive, aheadMs);
  const rows = useMemo(() => traceRows(data), [data]);
  const shown = useMemo(() => shownRows(rows, folded), [rows, folded]);
  const all = useMemo(() => shownRows(rows, new Set()).map(({ row }) => row), [rows]);
  const hasPanelRoom = useHasPanelRoom();
  const trace = useRef<HTMLElement>(null);
  const isChoosing = useRef(false);
  // What is told of a row may begin below the window.
  useEffect(() => {
    if (isChoosing.current) trace.current?.querySelector(".run-detail > *")?.scrollIntoView({ block: "nearest" });
    isChoosing.current = false;
  }, [chosen]);
  const [root] = data.runs;
  if (!root) return <p className="text-muted">{t`Not started yet: another run of its conversation comes first.`}</p>;
  const begin = beginOf(data);
  const end = Math.max(begin + 1, isLive ? now : 0, ...all.map((row) => row.to ?? row.from));
  const axis = timeAxis({ from: begin, to: end }, busyTimes(all, end));
  const takes: AxisMark[] = root.takes
    .slice(1)
    .map((take) => ({ time: Date.parse(take.at), over: take.over, text: takeText(take, begin) }));
  const row = all.find(({ key }) => key === chosen);
  // Until one is chosen, the timeline has all of it.
  const hasRoom = hasPanelRoom && row !== undefined;
  return (
    <section ref={trace} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2>{t`Timeline`}</h2>
      <div className={hasRoom ? besideEachOther : oneBelowTheOther}>
        <div className={oneBelowTheOther}>
          <Waterfall
            rows={shown}
            axis={axis}
            begin={begin}
            now={now}
            marks={takes}
            chosen={chosen}
            onChoose={(key) => {
              isChoosing.current = true;
              changeQuery({ row: key });
            }}
            onFold={(key, isFolded) => {
              const next = new Set(folded);
              if (isFolded) next.add(key);
              else next.delete(key);
              setFolded(next);
            }}
          />
          {axis.breaks.map((gap) => (
            <p key={gap.from} className="text-xs text-muted">
              ▨ {t`${{ long: duration(gap.to - gap.from) }} idle; shortened in the drawing`}
            </p>
          ))}
        </div>
        <div {...(hasRoom && { className: ownScroll, role: "group", "aria-label": t`Run details`, tabIndex: 0 })}>
          {row ? (
            <RowDetail key={row.key} row={row} data={data} begin={begin} onChange={onChange} />
          ) : (
            <p className="text-muted">
              {t`Select a row to see its input and output.`}{" "}
              {t`Arrow keys select a row; left and right collapse and expand.`}
            </p>
          )}
        </div>
      </div>
    </section>
  );
}

/** Its first item, which may be a little older than its row. */
function beginOf({ run, items }: RunDetailsView): number {
  const first = items.find((item) => item.runId === run.id);
  return Math.min(Date.parse(run.createdAt), first ? Date.parse(first.createdAt) : Infinity);
}

/** When a model, a tool or a delegated run was at work; a wait is none of it. */
function busyTimes(rows: readonly TraceRow[], end: number) {
  return rows
    .filter(({ kind, below }) => kind === "step" || kind === "lost" || (kind === "call" && below.length === 0))
    .map(({ from, workedFrom = from, to = end }) => ({ from: Math.min(workedFrom, to), to }));
}
