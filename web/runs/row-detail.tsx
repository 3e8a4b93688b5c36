import { type ReactNode, useState } from "react";
import type { TracedItem, RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import type { Item } from "../../src/protocol/threads/items.ts";
import { textOf } from "../../src/protocol/threads/items.ts";
import { copyText } from "../browser/copy-text.ts";
import { useMe } from "../page/me.ts";
import { cost, duration, figure, time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { formatJson } from "../parts/format-json.ts";
import { Act } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { Replay } from "./replay.tsx";
import { adminRuns, runsInside } from "../run-list/runs-client.ts";
import { rowState, rowTitle } from "./row-texts.ts";
import { runsWords } from "../run-list/runs-words.ts";
import type { TraceRow } from "./trace-rows.ts";

const texts = runsWords.detail;

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
        {row.kind === "run" && <PageLink to={`/runs/${row.run.id}`}>{texts.seeRun}</PageLink>}
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
              {status === "done" ? texts.wasDone : texts.wasNotDone}
            </Act>
          ))}
        </div>
      )}
      {row.input && <Part name={texts.input} item={row.input} />}
      {row.output && <Part name={row.kind === "wait" ? texts.decision : texts.output} item={row.output} />}
      <Replay row={row} data={data} />
      <Raw row={row} />
    </section>
  );
}

function Facts({ row, begin }: { readonly row: TraceRow; readonly begin: number }) {
  const { write, modelCalls } = row;
  const last = modelCalls.at(-1);
  const facts: [string, ReactNode][] = [
    [texts.start, `${time(new Date(row.from).toISOString())} (+${duration(row.from - begin)})`],
  ];
  if (row.to !== row.from)
    facts.push([texts.took, row.to === undefined ? runsWords.trace.goesOn : duration(row.to - row.from)]);
  const by = row.kind === "wait" ? row.output?.author : (row.input?.author ?? row.output?.author);
  if (by) facts.push([texts.by, by]);
  if (last) {
    if (last.asked !== last.model) facts.push([texts.asked, last.asked]);
    if (last.firstPartMs !== null) facts.push([texts.first, duration(last.firstPartMs)]);
    if (last.inputTokens !== null)
      facts.push([texts.tokens, `${figure(last.inputTokens)} + ${figure(last.outputTokens ?? 0)}`]);
    if (last.cost !== null) facts.push([texts.cost, cost(last.cost)]);
    if (last.finish !== null) facts.push([texts.finish, last.finish]);
  }
  if (modelCalls.length > 1)
    facts.push([
      texts.tries,
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
    facts.push([texts.ledger, texts.ledgerStates[write.status]]);
    facts.push([texts.key, <code key="key">{write.key}</code>]);
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
      <pre tabIndex={0} className="run-text" aria-label={name}>
        {formatJson(shown)}
        {item.cut && !whole && " …"}
      </pre>
      {item.cut && !whole && (
        <div>
          <Act onAct={async () => setWhole(await runsInside.item(item.runId!, item.id))}>{texts.more}</Act>
        </div>
      )}
    </div>
  );
}

function decided(decision: string): string {
  const names: Readonly<Record<string, string>> = runsWords.decisions;
  return names[decision] ?? decision;
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
    case "question":
    case "notice":
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
      <summary>{texts.raw}</summary>
      {isOpen && <RawText row={row} items={items} />}
    </details>
  );
}

function RawText({ row, items }: { readonly row: TraceRow; readonly items: readonly TracedItem[] }) {
  const [isCopied, setCopied] = useState(false);
  const loaded = useLoaded(items.map(({ id }) => id).join(), (signal) =>
    Promise.all(items.map((item) => runsInside.item(item.runId!, item.id, signal))),
  );
  if (!loaded.data) return <Waiting of={loaded} />;
  const text = JSON.stringify(
    {
      items: loaded.data,
      ...(row.modelCalls.length > 0 && { modelCalls: row.modelCalls }),
      ...(row.write && { ledger: row.write }),
    },
    null,
    2,
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <div>
        <button type="button" className="button" onClick={() => void copyText(text).then(setCopied)}>
          {isCopied ? texts.copied : texts.copy}
        </button>
      </div>
      <pre tabIndex={0} className="run-text" aria-label={texts.raw}>
        {text}
      </pre>
    </div>
  );
}
