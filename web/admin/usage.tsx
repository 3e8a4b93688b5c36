import { type ComponentProps, useMemo, useState } from "react";
import { t } from "@lingui/core/macro";
import type { UsageView } from "../../src/protocol/people/overview.ts";
import type { UsageQuery } from "../../src/client/overview.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { definitions, overview, users } from "./admin-client.ts";
import { Chart } from "./chart.tsx";
import { compareToday, type DaySpan, spanOf, spans, timesOf, tokensOf } from "./days.ts";
import { cost, duration, figure, period } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const spanNames = { "1": t`24 hours`, "7": t`7 days`, "30": t`30 days`, "90": t`90 days` };

const groupingNames = { model: t`Model`, agent: t`Agent`, user: t`Person`, time: t`Time (UTC)` };

const groupings = ["model", "agent", "user", "time"] as const;
type UsageGrouping = (typeof groupings)[number];
const mostUsers = 100;

/** What models were used: today against the usual, over time, and by whom and for what. */
export function Usage() {
  const query = useQuery();
  const days = spans.find((each) => each === query.get("days")) ?? "30";
  const by = groupings.find((each) => each === query.get("by")) ?? "model";
  const [model, user] = [query.get("model") ?? undefined, query.get("user") ?? undefined];
  const of = { ...(model !== undefined && { model }), ...(user !== undefined && { user }) };
  const models = useAnswer(["admin", "models"], definitions.models.list);
  const people = useAnswer(["admin", "users"], users.list);
  const names = new Set([...(models.data ?? []).map(({ id }) => id), ...(model === undefined ? [] : [model])]);
  return (
    <>
      <Today of={of} />
      <div className="flex flex-wrap gap-3">
        <ChoiceField
          label={t`Period`}
          value={days}
          options={spans.map((each) => [each, spanNames[each]])}
          onChange={(value) => changeQuery({ days: value })}
        />
        <ChoiceField
          label={t`Group by`}
          value={by}
          options={groupings.map((each) => [each, groupingNames[each]])}
          onChange={(value) => changeQuery({ by: value })}
        />
        <ChoiceField
          label={t`Model`}
          value={model ?? ""}
          options={[["", t`all`], ...[...names].map((id): [string, string] => [id, id])]}
          onChange={(value) => changeQuery({ model: value })}
        />
        <ChoiceField
          label={t`Person`}
          value={user ?? ""}
          options={[["", t`all`], ...(people.data ?? []).map(({ id, name }): [string, string] => [id, name])]}
          onChange={(value) => changeQuery({ user: value })}
        />
      </div>
      <OverTime days={days} by={by} of={of} />
    </>
  );
}

/** Whose use is meant; of neither: everybody's, of all models. */
type UsageSubject = Pick<UsageQuery, "model" | "user">;

function Today({ of }: { readonly of: UsageSubject }) {
  const loaded = useAnswer(["admin", "usage", "today", of], (signal) => overview.usage({ by: "day", ...of }, signal));
  const [now] = useState(() => new Date());
  if (!loaded.data) return <Waiting of={loaded} />;
  const { today, usual } = compareToday(loaded.data, now);
  const against = (value: number | undefined, show: (value: number) => string) =>
    value === undefined ? t`No earlier data` : t`usually ${{ value: show(value) }} per day`;
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-5" aria-label={t`Today`}>
      <Tile name={t`Requests today`} value={figure(today?.requests ?? 0)} beside={against(usual?.requests, figure)} />
      <Tile
        name={t`Tokens today`}
        value={figure(today ? tokensOf(today) : 0)}
        beside={against(usual?.tokens, figure)}
      />
      <Tile name={t`Cost today`} value={cost(today?.cost ?? 0)} beside={against(usual?.cost, cost)} />
      <Tile name={t`Errors today`} value={figure(today?.errors ?? 0)} beside={against(usual?.errors, figure)} />
      <Tile
        name={t`Time to first token, today`}
        value={duration(today?.firstPartP50 ?? null)}
        beside={t`95% within ${{ value: duration(today?.firstPartP95 ?? null) }}`}
      />
    </dl>
  );
}

function Tile({ name, value, beside }: { readonly name: string; readonly value: string; readonly beside: string }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-muted" title={name}>
        {name}
      </dt>
      <dd className="text-xl leading-tight break-words tabular-nums">{value}</dd>
      <dd className="text-muted">{beside}</dd>
    </div>
  );
}

function OverTime({ days, by, of }: { readonly days: DaySpan; readonly by: UsageGrouping; readonly of: UsageSubject }) {
  const [now] = useState(() => new Date());
  const { from, by: step } = useMemo(() => spanOf(days, now), [days, now]);
  const since = { from: from.toISOString(), ...of };
  const whose = `${days} ${of.model} ${of.user}`;
  const times = useMemo(() => timesOf(from, now, step), [from, now, step]);
  const series = useAnswer(["admin", "usage", whose], (signal) => overview.usage({ by: step, ...since }, signal));
  const grouped = useAnswer(["admin", "usage", whose, by], async (signal) => ({
    by,
    rows: await overview.usage(
      { by: by === "time" ? step : by, ...since, ...(by === "user" && { limit: mostUsers }) },
      signal,
    ),
  }));
  return (
    <>
      {series.data ? <Charts rows={series.data} times={times} /> : <Waiting of={series} />}
      {grouped.data ? <Grouped {...grouped.data} /> : <Waiting of={grouped} />}
    </>
  );
}

function Charts({ rows, times }: { readonly rows: readonly UsageView[]; readonly times: readonly string[] }) {
  const charts = useMemo(() => chartsOf(rows, times), [rows, times]);
  return (
    <div className="grid gap-6 sm:grid-cols-2 xl:grid-cols-3">
      {charts.map((chart) => (
        <Chart key={chart.name} times={times} {...chart} />
      ))}
    </div>
  );
}

function chartsOf(rows: readonly UsageView[], times: readonly string[]): Omit<ComponentProps<typeof Chart>, "times">[] {
  const byTime = new Map(rows.map((row) => [row.key, row]));
  const values = (of: (row: UsageView) => number | null, otherwise: number | null) =>
    times.map((at) => (byTime.has(at) ? of(byTime.get(at)!) : otherwise));
  const counted = (name: string, of: (row: UsageView) => number, tone = "var(--accent)") =>
    ({ name, kind: "bars", show: figure, isWhole: true, series: [{ name, tone, values: values(of, 0) }] }) as const;
  // Where nothing was asked nothing was waited for either.
  const waited = (name: string, half: (row: UsageView) => number | null, most: (row: UsageView) => number | null) =>
    ({
      name,
      kind: "lines",
      show: duration,
      series: [
        { name: t`Median`, tone: "var(--accent)", values: values(half, null) },
        { name: t`95th percentile`, tone: "var(--warn)", values: values(most, null) },
      ],
    }) as const;
  return [
    counted(t`Requests`, ({ requests }) => requests),
    counted(t`Tokens`, tokensOf),
    { ...counted(t`Cost`, ({ cost: spent }) => spent), show: cost, isWhole: false },
    counted(t`Errors`, ({ errors }) => errors, "var(--bad)"),
    waited(
      t`First token`,
      ({ firstPartP50 }) => firstPartP50,
      ({ firstPartP95 }) => firstPartP95,
    ),
    waited(
      t`Full answer`,
      ({ totalP50 }) => totalP50,
      ({ totalP95 }) => totalP95,
    ),
  ];
}

function Grouped({ rows, by }: { readonly rows: readonly UsageView[]; readonly by: UsageGrouping }) {
  if (rows.length === 0) return <p className="text-muted">{t`No usage in this period`}</p>;
  const isCut = by === "user" && rows.length === mostUsers;
  return (
    <Table
      name={t`Model usage`}
      head={[
        isCut ? t`Person (${{ count: mostUsers }} with most requests)` : groupingNames[by],
        t`Requests`,
        t`Errors`,
        t`Tokens`,
        t`Cost`,
        t`Runs`,
        `${t`First token`} (50 / 95 %)`,
        `${t`Full answer`} (50 / 95 %)`,
      ]}
      numbersFrom={1}
    >
      {rows.map((row) => (
        <tr key={row.key}>
          <th scope="row">{row.key === "" ? t`(none)` : by === "time" ? period(row.key) : row.key}</th>
          <td className="number">{figure(row.requests)}</td>
          <td className={`number ${row.errors > 0 ? "text-bad" : ""}`}>{figure(row.errors)}</td>
          <td className="number">
            {figure(row.inputTokens)} + {figure(row.outputTokens)}
          </td>
          <td className="number">{cost(row.cost)}</td>
          <td className="number">{figure(row.runs)}</td>
          <td className="number">
            {duration(row.firstPartP50)} / {duration(row.firstPartP95)}
          </td>
          <td className="number">
            {duration(row.totalP50)} / {duration(row.totalP95)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
