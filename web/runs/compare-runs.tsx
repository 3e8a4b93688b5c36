import { type ReactNode, useMemo } from "react";
import { plural, t } from "@lingui/core/macro";
import type { RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import type { StepPrompt } from "../../src/protocol/threads/step-prompt.ts";
import { textOf } from "../../src/protocol/threads/items.ts";
import { useAnswer } from "../parts/answers.ts";
import { cost, duration, figure, moment } from "../parts/format.ts";
import { PageLink } from "../parts/page-link.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { RunState } from "../run-list/run-state.tsx";
import { runTitle } from "../run-list/run-title.ts";
import { runsInside } from "../run-list/runs-client.ts";
import { alignRows, type RowPair } from "./align-rows.ts";
import { CompareButton, CompareChoice } from "./compare-choice.tsx";
import { diffTexts, type DiffPart } from "./diff-texts.ts";
import { workedMs } from "./row-figures.ts";
import { rowState, rowTitle } from "./row-texts.ts";
import { roleNames } from "./step-prompt.tsx";
import type { TraceRow } from "./trace-rows.ts";
import "./compare-runs.css";

const maxShown = 2000;

type ComparedRun = { readonly details: RunDetailsView; readonly prompt: string; readonly answer: string };

/** Two runs side by side: what they were asked, what they did, what they said, and what it took. */
export function CompareRuns({ id, other: otherId }: { readonly id: string; readonly other: string }) {
  const one = useComparedRun(id);
  const other = useComparedRun(otherId);
  return (
    <>
      <PageLink to={`/runs/${id}`}>{t`Back to the run`}</PageLink>
      <h1>{t`Compare two runs`}</h1>
      <Waiting of={one} />
      {one.data && id === otherId ? (
        <>
          <p className="text-muted">{t`This is the same run. Choose another one.`}</p>
          <CompareChoice {...one.data.details} />
        </>
      ) : (
        <>
          <Waiting of={other} />
          {one.data && other.problem !== undefined && <CompareChoice {...one.data.details} />}
          {one.data && other.data && other.problem === undefined && <Compared one={one.data} other={other.data} />}
        </>
      )}
    </>
  );
}

function useComparedRun(id: string) {
  return useAnswer(["run", id, "compared"], async (signal): Promise<ComparedRun> => {
    const details = await runsInside.details(id, maxShown, signal);
    const step = details.modelCalls.find(({ runId, step: of }) => runId === id && of !== null)?.step;
    const said = details.items.findLast(
      ({ kind, runId, step: of, facts }) =>
        kind === "message" && runId === id && of !== null && facts["role"] === "assistant",
    );
    const [prompt, item] = await Promise.all([
      step ? runsInside.prompt(id, step, true, signal) : undefined,
      said?.cut ? runsInside.item(id, said.id, signal) : undefined,
    ]);
    const answer = item?.kind === "message" ? textOf(item.body.content) : (said?.text ?? "");
    return { details, prompt: prompt ? promptText(prompt) : "", answer };
  });
}

/** In place of what may not be read here, of which nobody can say whether it is the same. */
const hiddenText = t`Only admins can see this text.`;

function promptText({ messages }: StepPrompt): string {
  return messages
    .map(({ role, text, calls = [] }) =>
      [roleNames[role], text ?? hiddenText, ...calls.map((call) => `${call.name} ${call.text ?? hiddenText}`)].join(
        "\n",
      ),
    )
    .join("\n\n");
}

function Compared({ one, other }: { readonly one: ComparedRun; readonly other: ComparedRun }) {
  const pairs = useMemo(() => alignRows(one.details, other.details), [one, other]);
  return (
    <>
      <div className="compare">
        <RunHead name={t`This run`} details={one.details} />
        <RunHead name={t`The other run`} details={other.details} />
      </div>
      <div>
        <CompareButton {...one.details} />
      </div>
      <Figures one={one.details} other={other.details} />
      <Texts name={t`First prompt`} one={one.prompt} other={other.prompt} />
      <Texts name={t`Final answer`} one={one.answer} other={other.answer} />
      <h2>{t`Steps and calls`}</h2>
      {!(one.details.whole && other.details.whole) && <p className="text-muted">{t`Showing only the latest part.`}</p>}
      <Table name={t`Steps and calls`} head={[t`This run`, t`The other run`, t`Difference`]}>
        {pairs.map((pair, at) => (
          // Nothing moves in it: the two are compared anew when one of them has changed.
          <tr key={at}>
            <td>{pair.one && <RowWords row={pair.one} />}</td>
            <td>{pair.other && <RowWords row={pair.other} />}</td>
            <td>{pairText(pair)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function RunHead({ name, details: { run } }: { readonly name: string; readonly details: RunDetailsView }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <PageLink to={`/runs/${run.id}`} look="run-link">
        <bdi>{runTitle(run)}</bdi>
      </PageLink>
      <p className="text-muted">
        {moment(run.createdAt)} · @{run.agent}
      </p>
    </section>
  );
}

function RowWords({ row }: { readonly row: TraceRow }) {
  const took = workedMs(row);
  return (
    <>
      <span className={row.kind === "call" ? "font-mono" : "font-semibold"}>{rowTitle(row)}</span>{" "}
      <span className="text-muted">
        {[rowState(row), took === undefined ? "" : duration(took)].filter(Boolean).join(", ")}
      </span>
      <div dir="auto" className="compare-words">
        {row.text.slice(0, 200).toWellFormed()}
      </div>
    </>
  );
}

function pairText({ one, other }: RowPair): string {
  if (!one) return t`only in the other run`;
  if (!other) return t`only in this run`;
  if (one.kind === "call" && one.input?.text !== other.input?.text) return t`different arguments`;
  if (rowState(one) !== rowState(other)) return t`different`;
  // What they asked for stands in the rows that follow, and what a delegated run did in its own.
  if ((one.kind === "step" || one.kind === "run") && !one.output?.text && !other.output?.text) return "–";
  if (one.output?.text !== other.output?.text) return one.kind === "step" ? t`different answer` : t`different result`;
  return one.input?.cut || one.output?.cut ? t`the same as far as shown` : t`the same`;
}

function Figures({ one, other }: { readonly one: RunDetailsView; readonly other: RunDetailsView }) {
  const rows: readonly (readonly [name: string, one: ReactNode, other: ReactNode, difference: string])[] = [
    [
      t`State`,
      <RunState key="one" {...one.run} />,
      <RunState key="other" {...other.run} />,
      sameOr(one.run.status === other.run.status),
    ],
    [t`Model`, modelsOf(one), modelsOf(other), sameOr(modelsOf(one) === modelsOf(other))],
    countRow(t`Steps`, one.run.used?.steps, other.run.used?.steps),
    countRow(t`Calls`, one.run.used?.toolCalls, other.run.used?.toolCalls),
    countRow(t`Tokens`, one.run.used?.tokens, other.run.used?.tokens),
    amountRow(t`Cost`, one.run.used?.cost, other.run.used?.cost),
    timeRow(t`Duration`, tookMs(one), tookMs(other)),
  ];
  return (
    <Table name={t`Figures`} head={[t`What`, t`This run`, t`The other run`, t`Difference`]}>
      {rows.map(([name, mine, theirs, difference]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{mine}</td>
          <td>{theirs}</td>
          <td>{difference}</td>
        </tr>
      ))}
    </Table>
  );
}

const sameOr = (isSame: boolean) => (isSame ? t`the same` : t`different`);

function modelsOf({ modelCalls, run }: RunDetailsView): string {
  return [...new Set(modelCalls.filter(({ runId }) => runId === run.id).map(({ model }) => model))].join(", ") || "–";
}

function tookMs({ run }: RunDetailsView): number | undefined {
  return run.startedAt === null || run.endedAt === null
    ? undefined
    : Date.parse(run.endedAt) - Date.parse(run.startedAt);
}

type FigureWords = {
  readonly show: (value: number) => string;
  readonly more: (difference: string) => string;
  readonly less: (difference: string) => string;
};

/** What this run took more or less than the other one, in words. */
function figureRow(
  name: string,
  one: number | undefined,
  other: number | undefined,
  { show, more, less }: FigureWords,
) {
  const shown = (value: number | undefined) => (value === undefined ? "–" : show(value));
  const difference = (one ?? 0) - (other ?? 0);
  const isKnown = one !== undefined && other !== undefined;
  const words = difference === 0 ? t`the same` : (difference > 0 ? more : less)(show(Math.abs(difference)));
  return [name, shown(one), shown(other), isKnown ? words : "–"] as const;
}

const countRow = (name: string, one: number | undefined, other: number | undefined) =>
  figureRow(name, one, other, {
    show: figure,
    more: (count) => t`${{ count }} more in this run`,
    less: (count) => t`${{ count }} fewer in this run`,
  });
const amountRow = (name: string, one: number | undefined, other: number | undefined) =>
  figureRow(name, one, other, {
    show: cost,
    more: (amount) => t`this run costs ${{ amount }} more`,
    less: (amount) => t`this run costs ${{ amount }} less`,
  });
const timeRow = (name: string, one: number | undefined, other: number | undefined) =>
  figureRow(name, one, other, {
    show: duration,
    more: (time) => t`this run took ${{ time }} longer`,
    less: (time) => t`this run was ${{ time }} faster`,
  });

type TextsProps = { readonly name: string; readonly one: string; readonly other: string };

/** Both texts, with what is only in one of them marked in it. */
function Texts({ name, one, other }: TextsProps) {
  const parts = useMemo(() => diffTexts(one, other), [one, other]);
  const changes = parts?.filter(({ kind }) => kind !== "same").length ?? 0;
  return (
    <section aria-label={name} className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <h2>{name}</h2>
      <p className="text-muted">
        {one === other
          ? one === "" || one.includes(hiddenText)
            ? "–"
            : t`the same`
          : parts
            ? plural({ changes }, { one: "# difference, marked", other: "# differences, marked" })
            : t`Too different to mark what changed.`}
      </p>
      <div className="compare">
        <Text parts={parts ?? [whole(one)]} without="added" />
        <Text parts={parts ?? [whole(other)]} without="removed" />
      </div>
    </section>
  );
}

function whole(text: string): DiffPart {
  return { kind: "same", text: text.slice(0, 6000).toWellFormed(), leftOut: Math.max(0, text.length - 6000) };
}

function Text({ parts, without }: { readonly parts: readonly DiffPart[]; readonly without: "added" | "removed" }) {
  const shown = parts.filter(({ kind, text }) => kind !== without && text !== "");
  return (
    <div dir="auto" className="compare-text">
      {shown.length === 0 && <span className="text-muted">{t`nothing`}</span>}
      {shown.map(({ kind, text, leftOut }, at) => {
        const words = (
          <>
            {text}
            {leftOut > 0 && (
              <span className="text-muted">
                {" "}
                [{plural({ leftOut }, { one: "# character left out", other: "# characters left out" })}]
              </span>
            )}
          </>
        );
        if (kind === "same") return <span key={at}>{words}</span>;
        return kind === "removed" ? <del key={at}>{words}</del> : <ins key={at}>{words}</ins>;
      })}
    </div>
  );
}
