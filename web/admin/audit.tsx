import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { AuditView } from "../../src/protocol/people/overview.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { overview } from "./admin-client.ts";
import { time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
const pageRows = 50;

/** Who changed what, newest first. */
export function Audit() {
  const user = useQuery().get("user") ?? "";
  const [typed, setTyped] = useState(user);
  return (
    <>
      <Form name={t`Show`} submit={t`Show`} onSubmit={async () => changeQuery({ user: typed.trim() })}>
        <TextField label={t`Person (name or id)`} type="search" value={typed} onChange={setTyped} />
      </Form>
      <Entries key={user} user={user} />
    </>
  );
}

/** Of one person; of all where no name is given. */
function Entries({ user }: { readonly user: string }) {
  const filter = user === "" ? {} : { user };
  const loaded = useAnswer(["admin", "audit", filter], (signal) =>
    overview.audit({ ...filter, limit: pageRows }, signal),
  );
  const [older, setOlder] = useState<readonly AuditView[]>([]);
  const [isEnd, setEnd] = useState(false);
  const rows = [...(loaded.data ?? []), ...older];
  return (
    <>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{t`No entries`}</p>}
      {rows.length > 0 && (
        <Table name={t`Changes`} head={[t`When`, t`Who`, t`What`, t`Outcome`, t`From`]}>
          {rows.map(({ id, at, userName, via, address, method, path, status }) => (
            <tr key={id}>
              <td className="whitespace-nowrap">{time(at)}</td>
              <th scope="row">{userName}</th>
              <td>
                <code>
                  {method} {path}
                </code>
              </td>
              <td>
                <State grade={status < 400 ? "ok" : "bad"}>
                  {status < 400 ? t`done` : t`refused`} ({status})
                </State>
              </td>
              <td className="text-muted">
                {via} {address}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {rows.length >= pageRows && !isEnd && (
        <div>
          <Act
            onAct={async () => {
              const more = await overview.audit({ ...filter, before: rows.at(-1)!.id, limit: pageRows });
              setOlder([...older, ...more]);
              setEnd(more.length < pageRows);
            }}
          >
            {t`Show older entries`}
          </Act>
        </div>
      )}
    </>
  );
}
