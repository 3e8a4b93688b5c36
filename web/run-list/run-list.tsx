import { type KeyboardEvent, useState } from "react";
import { t } from "@lingui/core/macro";
import { runStatuses } from "../../src/protocol/threads/runs.ts";
import { useMe } from "../page/me.ts";
import { refreshAfter, useAnswer } from "../parts/answers.ts";
import { useChanges } from "../stream/changes.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { useRunOrder } from "./run-order.ts";
import { type RunListEntry, RunRow } from "./run-row.tsx";
import { SavedFilters } from "./saved-filters.tsx";
import { adminRuns, runsInside } from "./runs-client.ts";
import { stateNames } from "./run-names.ts";
const pageRows = 50;
/** Of what begins to wait or to work nothing is told while it is queued. */
const queuedMs = 2000;

/** One's own runs; for admins everybody's, if they ask for it or look at them in the administration. */
export function RunList({ ofAll = false }: { readonly ofAll?: boolean }) {
  const query = useQuery();
  const me = useMe();
  const isAll = ofAll || (me?.role === "admin" && query.get("all") !== null);
  const status = runStatuses.find((each) => each === query.get("status"));
  const [agent, user, thread] = ["agent", "user", "thread"].map((name) => query.get(name) ?? undefined);
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
  const order = useRunOrder();
  /** To be compared, at most two. */
  const [picked, setPicked] = useState<readonly string[]>([]);
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
      <FilterForm key={`${agent} ${user}`} isAll={isAll} mayAskForAll={me?.role === "admin" && !ofAll} />
      <SavedFilters list={ofAll ? "all-runs" : "runs"} />
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
        <div
          onKeyDown={(event) => {
            if (event.key === "Escape" && picked.length > 0) setPicked([]);
            else betweenLinks(event);
          }}
        >
          <Table
            name={t`Runs`}
            numbersFrom={isAll ? 5 : 4}
            head={[
              order.head("started", t`Started`),
              t`What`,
              t`State`,
              t`Agent`,
              ...(isAll ? [t`Who`] : []),
              order.head("tokens", t`Tokens`),
              order.head("cost", t`Cost`),
              order.head("duration", t`Duration`),
            ]}
          >
            {order.sorted(rows).map((run) => (
              <RunRow
                key={run.id}
                run={run}
                isAll={isAll}
                onChange={loaded.reload}
                isPicked={picked.includes(run.id)}
                onPick={() =>
                  setPicked(
                    picked.includes(run.id) ? picked.filter((id) => id !== run.id) : [...picked.slice(-1), run.id],
                  )
                }
              />
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
      {picked.length > 0 && <Picked ids={picked} />}
    </>
  );
}

/** What is typed counts once it is sent; what is chosen at once. */
function FilterForm({ isAll, mayAskForAll }: { readonly isAll: boolean; readonly mayAskForAll: boolean }) {
  const query = useQuery();
  const [typed, setTyped] = useState({ agent: query.get("agent") ?? "", user: query.get("user") ?? "" });
  return (
    <Form
      name={t`Filter`}
      submit={t`Filter`}
      onSubmit={async () => changeQuery({ agent: typed.agent.trim(), ...(isAll && { user: typed.user.trim() }) })}
    >
      <ChoiceField
        label={t`State`}
        value={query.get("status") ?? ""}
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
      {mayAskForAll && <Switch name="all" text={t`All people`} />}
      <Switch name="delegated" text={t`Include delegated runs`} />
    </Form>
  );
}

function Picked({ ids }: { readonly ids: readonly string[] }) {
  const [before, after] = ids.toSorted();
  return (
    <p role="status" className="run-picked">
      {after === undefined ? (
        t`One run selected. Select another to compare them.`
      ) : (
        <PageLink to={`/runs/${after}?with=${before}`} look="button-main">
          {t`Compare the selected runs`}
        </PageLink>
      )}
    </p>
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

/** Up and down lead from run to run, from its frame to the first or last one. */
function betweenLinks(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".run-link")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const isFrame = (event.target as HTMLElement).matches(".table-frame");
  if (at === -1 && !isFrame) return;
  const down = Math.min(at + 1, links.length - 1);
  const up = at === -1 ? links.length - 1 : Math.max(at - 1, 0);
  const next = { ArrowDown: down, ArrowUp: up, Home: 0, End: links.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  links[next]?.focus();
}
