import type { UsageView } from "../../src/protocol/people/overview.ts";
import type { UsageQuery } from "../../src/client/overview.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { adminWords } from "./admin-words.ts";
import { definitions, overview, users } from "./admin-client.ts";
import { Bars, Lines } from "./chart.tsx";
import { compareToday, type DaySpan, spanOf, spans, timesOf, tokensOf } from "./days.ts";
import { cost, duration, figure, period } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const texts = adminWords.usage;
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
  const models = useLoaded("models", definitions.models.list);
  const people = useLoaded("users", users.list);
  const names = new Set([...(models.data ?? []).map(({ id }) => id), ...(model === undefined ? [] : [model])]);
  return (
    <>
      <Today of={of} />
      <div className="flex flex-wrap gap-3">
        <ChoiceField
          label={texts.span}
          value={days}
          options={spans.map((each) => [each, texts.spans[each]])}
          onChange={(value) => changeQuery({ days: value })}
        />
        <ChoiceField
          label={texts.by}
          value={by}
          options={groupings.map((each) => [each, texts.groupings[each]])}
          onChange={(value) => changeQuery({ by: value })}
        />
        <ChoiceField
          label={texts.ofModel}
          value={model ?? ""}
          options={[["", texts.all], ...[...names].map((id): [string, string] => [id, id])]}
          onChange={(value) => changeQuery({ model: value })}
        />
        <ChoiceField
          label={texts.ofUser}
          value={user ?? ""}
          options={[["", texts.all], ...(people.data ?? []).map(({ id, name }): [string, string] => [id, name])]}
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
  const loaded = useLoaded(`today ${of.model} ${of.user}`, (signal) => overview.usage({ by: "day", ...of }, signal));
  if (!loaded.data) return <Waiting of={loaded} />;
  const { today, usual } = compareToday(loaded.data, new Date());
  const against = (value: number | undefined, show: (value: number) => string) =>
    value === undefined ? texts.noUsual : texts.usually(show(value));
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5" aria-label={texts.today}>
      <Tile name={texts.requestsToday} value={figure(today?.requests ?? 0)} beside={against(usual?.requests, figure)} />
      <Tile
        name={texts.tokensToday}
        value={figure(today ? tokensOf(today) : 0)}
        beside={against(usual?.tokens, figure)}
      />
      <Tile name={texts.costToday} value={cost(today?.cost ?? 0)} beside={against(usual?.cost, cost)} />
      <Tile name={texts.errorsToday} value={figure(today?.errors ?? 0)} beside={against(usual?.errors, figure)} />
      <Tile
        name={texts.firstToday}
        value={duration(today?.firstPartP50 ?? null)}
        beside={texts.p95(duration(today?.firstPartP95 ?? null))}
      />
    </dl>
  );
}

function Tile({ name, value, beside }: { readonly name: string; readonly value: string; readonly beside: string }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="text-xl leading-tight tabular-nums">{value}</dd>
      <dd className="text-muted">{beside}</dd>
    </div>
  );
}

function OverTime({ days, by, of }: { readonly days: DaySpan; readonly by: UsageGrouping; readonly of: UsageSubject }) {
  const now = new Date();
  const { from, by: step } = spanOf(days, now);
  const since = { from: from.toISOString(), ...of };
  const whose = `${days} ${of.model} ${of.user}`;
  const series = useLoaded(whose, (signal) => overview.usage({ by: step, ...since }, signal));
  const grouped = useLoaded(`${whose} ${by}`, async (signal) => ({
    by,
    rows: await overview.usage(
      { by: by === "time" ? step : by, ...since, ...(by === "user" && { limit: mostUsers }) },
      signal,
    ),
  }));
  return (
    <>
      {series.data ? <Charts rows={series.data} times={timesOf(from, now, step)} /> : <Waiting of={series} />}
      {grouped.data ? <Grouped {...grouped.data} /> : <Waiting of={grouped} />}
    </>
  );
}

function Charts({ rows, times }: { readonly rows: readonly UsageView[]; readonly times: readonly string[] }) {
  const byTime = new Map(rows.map((row) => [row.key, row]));
  const points = (of: (row: UsageView) => number) =>
    times.map((at) => ({ at, value: byTime.has(at) ? of(byTime.get(at)!) : 0 }));
  const values = (of: (row: UsageView) => number | null) =>
    times.map((at) => (byTime.has(at) ? of(byTime.get(at)!) : null));
  return (
    <div className="grid gap-6 sm:grid-cols-2 xl:grid-cols-3">
      <Bars name={texts.requests} points={points(({ requests }) => requests)} show={figure} />
      <Bars name={texts.tokens} points={points(tokensOf)} show={figure} />
      <Bars name={texts.cost} points={points(({ cost: spent }) => spent)} show={cost} />
      <Bars name={texts.errors} points={points(({ errors }) => errors)} show={figure} tone="var(--bad)" />
      <Lines
        name={texts.first}
        times={times}
        show={duration}
        lines={[
          { name: texts.median, tone: "var(--accent)", values: values(({ firstPartP50 }) => firstPartP50) },
          { name: texts.slow, tone: "var(--warn)", values: values(({ firstPartP95 }) => firstPartP95) },
        ]}
      />
      <Lines
        name={texts.whole}
        times={times}
        show={duration}
        lines={[
          { name: texts.median, tone: "var(--accent)", values: values(({ totalP50 }) => totalP50) },
          { name: texts.slow, tone: "var(--warn)", values: values(({ totalP95 }) => totalP95) },
        ]}
      />
    </div>
  );
}

function Grouped({ rows, by }: { readonly rows: readonly UsageView[]; readonly by: UsageGrouping }) {
  if (rows.length === 0) return <p className="text-muted">{texts.nothing}</p>;
  const { requests, errors, tokens, cost: spent, runs, first, whole } = texts;
  const isCut = by === "user" && rows.length === mostUsers;
  return (
    <Table
      name={texts.table}
      head={[
        isCut ? texts.busiest(mostUsers) : texts.groupings[by],
        requests,
        errors,
        tokens,
        spent,
        runs,
        `${first} (50 / 95 %)`,
        `${whole} (50 / 95 %)`,
      ]}
      numbersFrom={1}
    >
      {rows.map((row) => (
        <tr key={row.key}>
          <th scope="row">{row.key === "" ? texts.none : by === "time" ? period(row.key) : row.key}</th>
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
