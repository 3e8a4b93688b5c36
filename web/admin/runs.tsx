import { useEffect, useState } from "react";
import type { AdminRunView } from "../../src/client/admin-runs.ts";
import { isEnded, type RunStatus } from "../../src/protocol/runs.ts";
import { changeQuery, useQuery } from "../path.ts";
import { words } from "../words.ts";
import { adminRuns } from "./admin-client.ts";
import { adminWords } from "./admin-words.ts";
import { duration, time } from "./figures.ts";
import { useLoaded } from "./loaded.ts";
import { Act, ChoiceField, Form, State, Table, TextField, Waiting } from "./parts.tsx";

const texts = adminWords.runs;
const pageRows = 50;
const statuses = ["queued", "running", "waiting", "done", "failed", "cancelled"] as const satisfies RunStatus[];
const grades = {
  queued: "quiet",
  running: "ok",
  waiting: "warn",
  done: "ok",
  failed: "bad",
  cancelled: "quiet",
} as const;

/** What everybody has agents do, and what has to be ended or done again. */
export function Runs() {
  const query = useQuery();
  const status = statuses.find((each) => each === query.get("status"));
  const user = query.get("user") ?? "";
  const [typed, setTyped] = useState(user);
  const filter = { ...(status && { status }), ...(user !== "" && { user }), limit: pageRows };
  const loaded = useLoaded(`runs ${status} ${user}`, (signal) => adminRuns.list(filter, signal));
  const [older, setOlder] = useState<readonly AdminRunView[]>([]);
  const [isAll, setAll] = useState(false);
  useEffect(() => {
    setOlder([]);
    setAll((loaded.data?.length ?? 0) < pageRows);
  }, [loaded.data]);
  const rows = [...(loaded.data ?? []), ...older];
  return (
    <>
      <Form
        name={adminWords.audit.filter}
        submit={adminWords.audit.filter}
        onSubmit={async () => changeQuery({ user: typed.trim() })}
        beside={
          <button type="button" className="button" onClick={loaded.reload}>
            {texts.again}
          </button>
        }
      >
        <ChoiceField
          label={texts.state}
          value={status ?? ""}
          onChange={(value) => changeQuery({ status: value })}
          options={[["", texts.all], ...statuses.map((each): [string, string] => [each, texts.states[each]])]}
        />
        <TextField label={adminWords.audit.user} type="search" value={typed} onChange={setTyped} />
      </Form>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{texts.nothing}</p>}
      {rows.length > 0 && (
        <Table
          name={adminWords.sections.runs}
          head={[texts.begun, adminWords.audit.who, words.agent, texts.state, texts.took, adminWords.people.actions]}
        >
          {rows.map((run) => (
            <Row key={run.id} run={run} onChange={loaded.reload} />
          ))}
        </Table>
      )}
      {rows.length > 0 && !isAll && (
        <div>
          <Act
            onAct={async () => {
              const more = await adminRuns.list({ ...filter, before: rows.at(-1)!.id });
              setOlder([...older, ...more]);
              setAll(more.length < pageRows);
            }}
          >
            {adminWords.audit.older}
          </Act>
        </div>
      )}
    </>
  );
}

function Row({ run, onChange }: { readonly run: AdminRunView; readonly onChange: () => void }) {
  const { id, userName, agent, status, waitReason, error, createdAt, startedAt, endedAt, takeovers, cancelAsked } = run;
  const mayRetry = run.parentRun === null && (status === "failed" || status === "cancelled");
  return (
    <tr>
      <td className="whitespace-nowrap">{time(createdAt)}</td>
      <th scope="row">{userName}</th>
      <td>@{agent}</td>
      <td>
        <State grade={grades[status]}>
          {texts.states[status]}
          {waitReason !== null && `: ${texts.waits[waitReason]}`}
        </State>
        {error !== null && <div className="text-muted">{error.message.slice(0, 300)}</div>}
        {takeovers > 0 && <div className="text-muted">{texts.takeovers(takeovers)}</div>}
        {cancelAsked && !isEnded(status) && <div className="text-muted">{texts.ending}</div>}
      </td>
      <td className="whitespace-nowrap">
        {startedAt !== null && endedAt !== null && duration(Date.parse(endedAt) - Date.parse(startedAt))}
      </td>
      <td>
        <div className="row-actions">
          {!isEnded(status) && (
            <Act name={`${words.stop}: ${userName}, @${agent}`} onAct={() => adminRuns.cancel(id).then(onChange)}>
              {words.stop}
            </Act>
          )}
          {mayRetry && (
            <Act name={`${texts.retry}: ${userName}, @${agent}`} onAct={() => adminRuns.retry(id).then(onChange)}>
              {texts.retry}
            </Act>
          )}
        </div>
      </td>
    </tr>
  );
}
