import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { RetentionView } from "../../src/protocol/people/retention.ts";
import { retention } from "./admin-client.ts";
import { figure, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Problem } from "../parts/problem.tsx";
import { Act, useAct } from "../parts/action-button.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { confirmAction } from "../parts/confirm.tsx";

const kindNames: Readonly<Record<string, readonly string[]>> = {
  threads: [t`Conversations`, t`with their runs and files; counted from the last activity`],
  archivedThreads: [t`Archived conversations`, t`counted from the last activity or from archiving, whichever is later`],
  runs: [
    t`Run details`,
    t`limits, ledger, and delegated runs with their threads; counted from the run's end. Messages, calls and results stay`,
  ],
  uploads: [t`Uploaded files`, t`counted from the upload; what messages say about them stays`],
  workspaces: [
    t`Files created in conversations`,
    t`by tools and people; counted from the last activity. The conversations stay`,
  ],
  shares: [t`Shared links`, t`counted from when they were created; expired links are deleted immediately`],
  callLog: [t`Model call log`, t`the log that usage is calculated from`],
  audit: [t`Audit log`, t`who changed what`],
};

const sourceNames = { admin: t`an admin`, default: t`default` };

/** How long things are kept, and what would go by it. */
export function Retention() {
  const loaded = useAnswer(["admin", "retention"], retention.list);
  const [told, setTold] = useState<string>();
  return (
    <>
      <p className="text-muted">{t`Older data is deleted every hour, a little at a time. Leave a field empty to keep data indefinitely.`}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Act
          onAct={async () => {
            const going = await retention.preview();
            const some = going.filter(({ count }) => count > 0);
            setTold(
              some.length === 0
                ? t`Nothing to delete now.`
                : t`would be deleted now: ${{ what: some.map(({ kind, count }) => `${nameOf(kind)}: ${figure(count)}`).join(", ") }}`,
            );
          }}
        >
          {t`Preview`}
        </Act>
        <Act
          isSure={() =>
            confirmAction({
              title: t`Delete all data past its retention period?`,
              text: t`“Preview” shows how much that is. This can't be undone.`,
              action: t`Delete now`,
            })
          }
          onAct={async () => {
            const done = await retention.removeNow();
            setTold(
              done
                .map(
                  ({ kind, removed, error }) =>
                    `${nameOf(kind)}: ${figure(removed)}${error === null ? "" : ` (${error})`}`,
                )
                .join(", ") || t`Nothing to delete now.`,
            );
            loaded.reload();
          }}
        >
          {t`Delete now`}
        </Act>
        <p role="status">{told}</p>
      </div>
      <Waiting of={loaded} />
      {loaded.data && (
        <Table name={t`Data retention`} head={[t`What`, t`Days`, t`From`, t`Last cleanup`]}>
          {loaded.data.map((rule) => (
            <Rule key={rule.kind} rule={rule} onChange={loaded.reload} />
          ))}
        </Table>
      )}
    </>
  );
}

/** In the reader's words; of a kind that this page does not know, in the server's. */
function nameOf(kind: string): string {
  return kindNames[kind]?.[0] ?? kind;
}

function Rule({ rule, onChange }: { readonly rule: RetentionView; readonly onChange: () => void }) {
  const { kind, what, readOnly, source, lastAt, lastRemoved, lastError } = rule;
  const name = nameOf(kind);
  const [days, setDays] = useState(rule.days?.toString() ?? "");
  const [would, setWould] = useState<string>();
  const isSame = days === (rule.days?.toString() ?? "");
  const set = useAct(async () => {
    await (days === "" ? retention.set(kind, null) : retention.set(kind, Number(days)));
    setWould(undefined);
    onChange();
  });
  return (
    <tr>
      <th scope="row">
        {name}
        <div className="font-normal text-muted">{kindNames[kind]?.[1] ?? what}</div>
      </th>
      <td>
        {readOnly ? (
          rule.days === null ? (
            t`indefinitely`
          ) : (
            plural({ count: rule.days }, { one: "# day", other: "# days" })
          )
        ) : (
          <form
            className="flex flex-wrap items-center gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              set.act();
            }}
          >
            <input
              className="field w-28"
              type="number"
              min={1}
              max={36_500}
              aria-label={t`Days to keep: ${{ kind: name }}`}
              placeholder={t`indefinitely`}
              value={days}
              onChange={(event) => setDays(event.target.value)}
            />
            {!isSame && (
              <>
                {days !== "" && (
                  <Act
                    name={`${t`Preview`}: ${name}`}
                    onAct={async () => {
                      const [first] = await retention.preview({ kind, days: Number(days) });
                      setWould(t`would be deleted now: ${{ what: figure(first?.count ?? 0) }}`);
                    }}
                  >
                    {t`Preview`}
                  </Act>
                )}
                <button type="submit" className="button-main" disabled={set.isBusy} aria-label={`${t`Save`}: ${name}`}>
                  {t`Save`}
                </button>
              </>
            )}
            {would !== undefined && <span role="status">{would}</span>}
            <Problem text={set.problem} />
          </form>
        )}
      </td>
      <td>
        {source === "admin" || source === "default" ? sourceNames[source] : source}
        {readOnly && <div className="text-muted">{t`change it there`}</div>}
        {source === "admin" && (
          <Act
            name={`${t`Reset to default`}: ${name}`}
            onAct={async () => {
              await retention.reset(kind);
              setDays(rule.default?.toString() ?? "");
              onChange();
            }}
          >
            {t`Reset to default`}
          </Act>
        )}
      </td>
      <td>
        {lastAt === null ? "–" : t`${{ when: time(lastAt) }}: ${{ count: figure(lastRemoved ?? 0) }} removed`}
        {lastError !== null && <div className="text-bad">{lastError}</div>}
      </td>
    </tr>
  );
}
