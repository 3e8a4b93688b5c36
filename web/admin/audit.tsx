import { useEffect, useState } from "react";
import type { AuditView } from "../../src/client/overview.ts";
import { changeQuery, useQuery } from "../path.ts";
import { adminWords } from "./admin-words.ts";
import { overview } from "./admin-client.ts";
import { time } from "./figures.ts";
import { useLoaded } from "./loaded.ts";
import { Act, Form, State, Table, TextField, Waiting } from "./parts.tsx";

const texts = adminWords.audit;
const pageRows = 50;

/** Who changed what, newest first. */
export function Audit() {
  const user = useQuery().get("user") ?? "";
  const [typed, setTyped] = useState(user);
  const filter = user === "" ? {} : { user };
  const loaded = useLoaded(`audit ${user}`, (signal) => overview.audit({ ...filter, limit: pageRows }, signal));
  const [older, setOlder] = useState<readonly AuditView[]>([]);
  const [isAll, setAll] = useState(false);
  useEffect(() => {
    setOlder([]);
    setAll((loaded.data?.length ?? 0) < pageRows);
  }, [loaded.data]);
  const rows = [...(loaded.data ?? []), ...older];
  return (
    <>
      <Form name={texts.filter} submit={texts.filter} onSubmit={async () => changeQuery({ user: typed.trim() })}>
        <TextField label={texts.user} type="search" value={typed} onChange={setTyped} />
      </Form>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{texts.nothing}</p>}
      {rows.length > 0 && (
        <Table name={texts.title} head={[texts.at, texts.who, texts.what, texts.outcome, texts.from]}>
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
                  {status < 400 ? texts.done : texts.refused} ({status})
                </State>
              </td>
              <td className="text-muted">
                {via} {address}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {rows.length > 0 && !isAll && (
        <div>
          <Act
            onAct={async () => {
              const more = await overview.audit({ ...filter, before: rows.at(-1)!.id, limit: pageRows });
              setOlder([...older, ...more]);
              setAll(more.length < pageRows);
            }}
          >
            {texts.older}
          </Act>
        </div>
      )}
    </>
  );
}
