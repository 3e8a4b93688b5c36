import { type KeyboardEvent, useState } from "react";
import { plural, t } from "@lingui/core/macro";
import { whyFailed } from "../conversation/why-failed.ts";
import type { AdminRun, ListedRunView } from "../../src/protocol/threads/run-trace.ts";
import { isEnded, runStatuses } from "../../src/protocol/threads/runs.ts";
import { useMe } from "../page/me.ts";
import { cost, duration, figure, moment, time } from "../parts/format.ts";
import { refreshAfter, useAnswer } from "../parts/answers.ts";
import { useChanges } from "../stream/changes.ts";
import { Act } from "../parts/action-button.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { RunState } from "./run-state.tsx";
import { adminRuns, runsInside } from "./runs-client.ts";
import { stateNames } from "./run-names.ts";
const pageRows = 50;
/** Of what begins to wait or to work nothing is told while it is queued. */
const queuedMs = 2000;
type RunListEntry = ListedRunView & Partial<Pick<AdminRun, "userName" | "takeovers" | "cancelAsked">>;

/** One's own runs; for admins everybody's, if they ask for it or look at them in the administration. */
export function RunList({ ofAll = false }: { readonly ofAll?: boolean }) {
  const query = useQuery();
  const me = useMe();
  const isAll = ofAll || (me?.role === "admin" && query.get("all") !== null);
  const status = runStatuses.find((each) => each === query.get("status"));
  const [agent, user, thread] = ["agent", "user", "thread"].map((name) => query.get(name) ?? undefined);
  const [typed, setTyped] = useState({ agent: agent ?? "", user: user ?? "" });
  const filter = {
    limit: pageRows,
    ...(status && { status }),
    ...(agent !== undefined && { agent }),
    ...(thread !== undefined && { thread }),
    ...(query.get("delegated") === null && { root: "true" as const }),
  };
  const list = (before: string | undefined, signal?: AbortSignal): Promise<readonly RunListEntry[]> =>
    isAll
      ? adminRuns.list(
          { ...filter, ...(user !== undefined && { user }), ...(before !== undefined && { before }) },
          signal,
        )
      : runsInside.list({ ...filter, ...(before !== undefined && { before }) }, signal);
  const key = ["runs", isAll, filter, user];
  const hash = JSON.stringify(key);
  const loaded = useAnswer(key, (signal) => list(undefined, signal), {
    everyMs: (all) => all?.some((run) => run.status === "queued") === true && queuedMs,
  });
  useChanges(isAll ? "all-runs" : "runs", () => void refreshAfter(key));
  const [older, setOlder] = useState<{
    readonly of: string;
    readonly rows: readonly RunListEntry[];
    readonly isEnd: boolean;
  }>();
  const more = older?.of === hash ? older : undefined;
  const first = loaded.data ?? [];
  const rows = [...first, ...behind(first, more?.rows ?? [])];

  return (
    <>
      <Form
        name={t`Filter`}
        submit={t`Filter`}
        onSubmit={async () => changeQuery({ agent: typed.agent.trim(), ...(isAll && { user: typed.user.trim() }) })}
      >
        <ChoiceField
          label={t`State`}
          value={status ?? ""}
          onChange={(value) => changeQuery({ status: value })}
          options={[["", t`all`], ...runStatuses.map((each): [string, string] => [each, stateNames[each]])]}
        />
        <TextField
          label={t`Agent`}
          type="search"
          value={typed.agent}
          onChange={(value) => setTyped({ ...typed, agent: value })}
        />
        {isAll && (
          <TextField
            label={t`Person`}
            type="search"
            value={typed.user}
            onChange={(value) => setTyped({ ...typed, user: value })}
          />
        )}
        {me?.role === "admin" && !ofAll && <Switch name="all" text={t`All people`} />}
        <Switch name="delegated" text={t`Include delegated runs`} />
      </Form>
      {thread !== undefined && (
        <p className="flex flex-wrap items-center gap-2">
          {t`From one conversation`}
          <button type="button" className="button" onClick={() => changeQuery({ thread: undefined })}>
            {t`Show all`}
          </button>
        </p>
      )}
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && (
        <p className="text-muted">
          {Object.keys(filter).length > 2 || isAll
            ? t`No matching runs`
            : t`No runs yet. Every message an agent answers is a run, and so is every tool you test.`}
        </p>
      )}
      {rows.length > 0 && (
        <div onKeyDown={betweenLinks}>
          <Table
            name={t`Runs`}
            numbersFrom={isAll ? 5 : 4}
            head={[
              t`Started`,
              t`What`,
              t`State`,
              t`Agent`,
              ...(isAll ? [t`Who`] : []),
              t`Tokens`,
              t`Cost`,
              t`Duration`,
            ]}
          >
            {rows.map((run) => (
              <Row key={run.id} run={run} isAll={isAll} onChange={loaded.reload} />
            ))}
          </Table>
        </div>
      )}
      {rows.length >= pageRows && more?.isEnd !== true && (
        <div>
          <Act
            onAct={async () => {
              const found = await list(rows.at(-1)!.id);
              setOlder({ of: hash, rows: [...rows, ...found], isEnd: found.length < pageRows });
            }}
          >
            {t`Older`}
          </Act>
        </div>
      )}
    </>
  );
}

/** Of rows that were shown, those further down than a new first page; the latest stand first. */
function behind(first: readonly RunListEntry[], before: readonly RunListEntry[]): readonly RunListEntry[] {
  const last = first.at(-1);
  return last ? before.filter(({ id }) => id < last.id) : [];
}

/** A part of the query that is there or not. */
function Switch({ name, text }: { readonly name: string; readonly text: string }) {
  const isOn = useQuery().get(name) !== null;
  return (
    <label className="flex min-h-8 items-center gap-1.5 pointer-coarse:min-h-11">
      <input type="checkbox" checked={isOn} onChange={() => changeQuery({ [name]: isOn ? undefined : "1" })} />
      {text}
    </label>
  );
}

function Row({
  run,
  isAll,
  onChange,
}: {
  readonly run: RunListEntry;
  readonly isAll: boolean;
  readonly onChange: () => void;
}) {
  const { id, userName, agent, status, error, text, used, createdAt, startedAt, endedAt, takeovers = 0 } = run;
  const mayResume = run.parentRun === null && (status === "failed" || status === "cancelled");
  const mayRetry = isAll && mayResume;
  const about = [...(userName === undefined ? [] : [userName]), `@${agent}`].join(", ");
  return (
    <tr>
      <td className="whitespace-nowrap">
        <time dateTime={createdAt} title={time(createdAt)}>
          {moment(createdAt)}
        </time>
      </td>
      <th scope="row" className="run-words">
        <PageLink to={`/runs/${id}`} look="run-link">
          {text ?? t`(no text)`}
        </PageLink>
      </th>
      <td>
        <div className="run-stands">
          <RunState {...run} />
          <span className="row-actions" style={{ minWidth: 0 }}>
            {!isEnded(status) && (
              <Act
                name={`${t`Stop`}: ${about}`}
                onAct={() => (isAll ? adminRuns.cancel(id) : client.cancel(id)).then(onChange)}
              >
                {t`Stop`}
              </Act>
            )}
            {mayResume && (
              <Act name={`${t`Resume`}: ${about}`} onAct={() => client.resume(id).then(onChange)}>
                {t`Resume`}
              </Act>
            )}
            {mayRetry && (
              <Act
                name={`${t`Rerun as new`}: ${about}`}
                onAct={async () => {
                  if (await isSureOf(id)) await adminRuns.retry(id).then(onChange);
                }}
              >
                {t`Rerun as new`}
              </Act>
            )}
          </span>
        </div>
        {error !== null && <div className="text-muted">{whyFailed(error.message.slice(0, 300), error.code)}</div>}
        {takeovers > 0 && (
          <div className="text-muted">
            {plural({ count: takeovers }, { one: "taken over once", other: "taken over # times" })}
          </div>
        )}
        {run.cancelAsked === true && !isEnded(status) && <div className="text-muted">{t`stopping`}</div>}
      </td>
      <td>@{agent}</td>
      {isAll && <td>{userName}</td>}
      <td className="number">{used && used.tokens > 0 ? figure(used.tokens) : "–"}</td>
      <td className="number">{used && used.cost > 0 ? cost(used.cost) : "–"}</td>
      <td className="number">
        {startedAt === null ? "–" : endedAt === null ? "…" : duration(Date.parse(endedAt) - Date.parse(startedAt))}
      </td>
    </tr>
  );
}

/** Up and down lead from run to run. */
function betweenLinks(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".run-link")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at === -1) return;
  event.preventDefault();
  links[at + step]?.focus();
}

/** Asks back if the first run has written something, since a new one may write it again. */
async function isSureOf(id: string): Promise<boolean> {
  const { ledger } = await runsInside.details(id);
  const wrote = ledger.filter(({ status }) => status !== "failed").map(({ tool }) => tool);
  if (wrote.length === 0) return true;
  const counts = Map.groupBy(wrote, (tool) => tool);
  const writes = [...counts].map(([tool, { length }]) => (length === 1 ? tool : `${length} × ${tool}`)).join(", ");
  return confirmAction({
    title: t`Rerun as a new run?`,
    text: t`The first run has already written: ${writes}. A new run may write it again. To continue without that, resume the run instead.`,
    action: t`Rerun as new`,
  });
}
