import { type ReactNode, useState } from "react";
import { t } from "@lingui/core/macro";
import type { TracedItem, RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import type { Item } from "../../src/protocol/threads/items.ts";
import { textOf } from "../../src/protocol/threads/items.ts";
import { useMe } from "../page/me.ts";
import { cost, duration, figure, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { formatJson } from "../parts/format-json.ts";
import { Act } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { Replay } from "./replay.tsx";
import { adminRuns, runsInside } from "../run-list/runs-client.ts";
import { noticeText } from "../conversation/notice-text.ts";
import { decisionNames, rowState, rowTitle } from "./row-texts.ts";
import { AnswerCalls, StepPrompt } from "./step-prompt.tsx";
import { CopyJson } from "./copy-json.tsx";
import { cachedTokens, workedMs } from "./row-figures.ts";
import type { TraceRow } from "./trace-rows.ts";

const ledgerNames = {
  executing: t`in progress`,
  done: t`done`,
  failed: t`not done`,
  unknown: t`unknown whether it was done`,
};

type RowDetailProps = {
  readonly row: TraceRow;
  readonly data: RunDetailsView;
  readonly begin: number;
  readonly onChange: () => void;
};

/** The chosen row: what went in, what came out, what it cost, and how it stands in the log. */
export function RowDetail({ row, data, begin, onChange }: RowDetailProps) {
  const me = useMe();
  const title = rowTitle(row);
  const state = rowState(row);
  const { write } = row;
  return (
    <section className="run-detail" aria-label={title}>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className={row.kind === "call" ? "font-mono" : undefined}>{title}</h2>
        {state !== "" && <span className="text-muted">{state}</span>}
        {row.kind === "run" && <PageLink to={`/runs/${row.run.id}`}>{t`View this run`}</PageLink>}
      </div>
      <Facts row={row} begin={begin} />
      {row.error !== undefined && row.output?.text !== row.error && (
        <p className="whitespace-pre-wrap text-bad">{row.error}</p>
      )}
      {write?.status === "unknown" && me?.role === "admin" && (
        <div className="flex flex-wrap gap-2">
          {(["done", "failed"] as const).map((status) => (
            <Act
              key={status}
              onAct={() =>
                adminRuns.resolve(write.runId, { step: write.step, index: write.index, status }).then(onChange)
              }
            >
              {status === "done" ? t`Mark as done` : t`Mark as not done`}
            </Act>
          ))}
        </div>
      )}
      {row.kind === "step" && row.to !== undefined && (
        <StepPrompt runId={row.run.id} step={row.name} call={row.modelCalls.at(-1)} />
      )}
      {row.input && <Part name={t`Input`} item={row.input} />}
      {row.output && <Part name={row.kind === "wait" ? t`Decision` : t`Output`} item={row.output} />}
      {row.kind === "step" && (
        <AnswerCalls
          calls={data.items.filter(
            (item) => item.kind === "call" && item.runId === row.run.id && item.step === row.name,
          )}
        />
      )}
      <Replay row={row} data={data} />
      <Raw row={row} />
    </section>
  );
}

function Facts({ row, begin }: { readonly row: TraceRow; readonly begin: number }) {
  const { write, modelCalls } = row;
  const last = modelCalls.at(-1);
  const facts: [string, ReactNode][] = [
    [t`Started`, `${time(new Date(row.from).toISOString())} (+${duration(row.from - begin)})`],
  ];
  if (row.to !== row.from) facts.push([t`Duration`, row.to === undefined ? t`continues` : duration(workedMs(row)!)]);
  if (row.workedFrom !== undefined && row.workedFrom > row.from)
    facts.push([t`Waited before`, duration(Math.min(row.workedFrom, row.to ?? row.workedFrom) - row.from)]);
  const by = row.kind === "wait" ? row.output?.author : (row.input?.author ?? row.output?.author);
  if (by) facts.push([t`By`, by]);
  if (last) {
    if (last.asked !== last.model) facts.push([t`Requested`, last.asked]);
    if (last.firstPartMs !== null) facts.push([t`Time to first token`, duration(last.firstPartMs)]);
    if (last.inputTokens !== null)
      facts.push([t`Tokens in and out`, `${figure(last.inputTokens)} + ${figure(last.outputTokens ?? 0)}`]);
    const cached = cachedTokens(row.output);
    if (cached !== undefined) facts.push([t`Of these from the provider's cache`, figure(cached)]);
    if (last.cost !== null) facts.push([t`Cost`, cost(last.cost)]);
    if (last.finish !== null) facts.push([t`Finish reason`, last.finish]);
  }
  if (modelCalls.length > 1)
    facts.push([
      t`Attempts`,
      <ol key="tries">
        {modelCalls.map((call) => (
          <li key={call.id}>
            {call.model} · {duration(call.totalMs)}
            {call.error !== null && <span className="text-bad"> · {call.error}</span>}
          </li>
        ))}
      </ol>,
    ]);
  if (write) {
    facts.push([t`Ledger`, ledgerNames[write.status]]);
    facts.push([t`Idempotency key`, <code key="key">{write.key}</code>]);
  }
  return (
    <dl className="run-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The beginning of an item's words; the whole on demand. */
function Part({ name, item }: { readonly name: string; readonly item: TracedItem }) {
  const [whole, setWhole] = useState<Item>();
  const text = whole ? wordsOf(whole) : (item.text ?? "");
  const decision = item.facts["decision"];
  const shown =
    typeof decision === "string" ? [decided(decision), text].filter((each) => each !== "").join(": ") : text;
  if (shown === "") return null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <h3>{name}</h3>
      <pre dir="auto" tabIndex={0} className="run-text" aria-label={name}>
        {formatJson(shown)}
        {item.cut && !whole && " …"}
      </pre>
      {item.cut && !whole && (
        <div>
          <Act onAct={async () => setWhole(await runsInside.item(item.runId!, item.id))}>{t`Show all`}</Act>
        </div>
      )}
    </div>
  );
}

function decided(decision: string): string {
  return decisionNames[decision] ?? decision;
}

function wordsOf(item: Item): string {
  switch (item.kind) {
    case "message":
      return textOf(item.body.content);
    case "call":
      return item.body.arguments;
    case "result":
    case "summary":
      return item.body.content;
    case "plan":
      return item.body.steps.map(({ text, state }) => `${state}: ${text}`).join("\n");
    case "notice":
      return noticeText(item.body);
    case "question":
      return item.body.text;
    case "decision":
      return item.body.text ?? "";
    case "state":
      return JSON.stringify(item.body);
  }
}

function Raw({ row }: { readonly row: TraceRow }) {
  const [isOpen, setOpen] = useState(false);
  const items = [row.input, row.output].filter((item) => item !== undefined);
  if (items.length === 0 && row.modelCalls.length === 0 && !row.write) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t`Log entry (JSON)`}</summary>
      {isOpen && <RawText row={row} items={items} />}
    </details>
  );
}

function RawText({ row, items }: { readonly row: TraceRow; readonly items: readonly TracedItem[] }) {
  const loaded = useAnswer(["items", items.map(({ id }) => id)], (signal) =>
    Promise.all(items.map((item) => runsInside.item(item.runId!, item.id, signal))),
  );
  if (!loaded.data) return <Waiting of={loaded} />;
  const entry = {
    items: loaded.data,
    ...(row.modelCalls.length > 0 && { modelCalls: row.modelCalls }),
    ...(row.write && { ledger: row.write }),
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <div>
        <CopyJson load={() => Promise.resolve(entry)} />
      </div>
      <pre tabIndex={0} className="run-text" aria-label={t`Log entry (JSON)`}>
        {JSON.stringify(entry, null, 2)}
      </pre>
    </div>
  );
}
