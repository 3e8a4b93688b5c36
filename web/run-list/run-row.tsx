import { plural, t } from "@lingui/core/macro";
import { whyFailed } from "../conversation/why-failed.ts";
import type { AdminRun, ListedRunView } from "../../src/protocol/threads/run-trace.ts";
import { isEnded } from "../../src/protocol/threads/runs.ts";
import { cost, duration, figure, moment, time } from "../parts/format.ts";
import { Act } from "../parts/action-button.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { RunState } from "./run-state.tsx";
import { placeText, runTitle } from "./run-title.ts";
import { adminRuns, runsInside } from "./runs-client.ts";

export type RunListEntry = ListedRunView & Partial<Pick<AdminRun, "userName" | "takeovers" | "cancelAsked">>;

type RunRowProps = {
  readonly run: RunListEntry;
  readonly isAll: boolean;
  readonly onChange: () => void;
  /** To be compared. */
  readonly isPicked: boolean;
  readonly onPick: () => void;
};

export function RunRow({ run, isAll, onChange, isPicked, onPick }: RunRowProps) {
  const { id, userName, agent, status, error, used, createdAt, startedAt, endedAt, takeovers = 0 } = run;
  const title = runTitle(run);
  const place = placeText(run);
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
        <div className="run-pick">
          <input
            type="checkbox"
            aria-label={`${t`Select to compare`}: ${title}`}
            checked={isPicked}
            onChange={onPick}
          />
          <PageLink to={`/runs/${id}`} look="run-link">
            <bdi>{title}</bdi>
          </PageLink>
        </div>
        {place !== undefined && <div className="run-place">{place}</div>}
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
