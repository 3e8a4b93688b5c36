import { useState } from "react";
import { useMe } from "../page/me.ts";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { accountClient } from "./account-client.ts";
import { Section } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.account;

/** Who one is here, and one's ways in. */
export function Account() {
  const me = useMe();
  if (!me) return null;
  return (
    <>
      {me.via === "session" ? (
        <>
          <p>
            {texts.who} <strong>{me.username}</strong> ({texts.role[me.role]})
            {me.groups.length > 0 && `. ${texts.groups}: ${me.groups.join(", ")}`}
          </p>
          <Password />
          <Logins />
        </>
      ) : (
        <>
          <p>{texts.local}</p>
          {!me.asksOnly && me.via === "local" && <Logins />}
        </>
      )}
      <Section title={texts.data} explain={texts.dataExplain}>
        <div>
          <a className="button" href={accountClient.archive} download>
            {texts.save}
          </a>
        </div>
      </Section>
    </>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [wanted, setWanted] = useState("");
  const [isChanged, setChanged] = useState(false);
  return (
    <Section title={texts.password} explain={texts.rule}>
      <Form
        name={texts.password}
        submit={texts.change}
        onSubmit={async () => {
          setChanged(false);
          await accountClient.changePassword(current, wanted);
          setCurrent("");
          setWanted("");
          setChanged(true);
        }}
      >
        <TextField label={texts.current} type="password" value={current} onChange={setCurrent} isNeeded />
        <TextField label={texts.new} type="password" value={wanted} onChange={setWanted} isNeeded />
      </Form>
      <p role="status" className="text-sm empty:hidden">
        {isChanged && <State grade="ok">{texts.changed}</State>}
      </p>
    </Section>
  );
}

function Logins() {
  const loaded = useLoaded("logins", accountClient.logins);
  if (loaded.data?.length === 0) return null;
  return (
    <Section title={texts.logins}>
      <Waiting of={loaded} />
      {loaded.data && (
        <div className="dense-view grid grid-cols-[minmax(0,1fr)] gap-3">
          <Table name={texts.logins} head={[texts.what, texts.lastUsed, texts.until, texts.actions]}>
            {loaded.data.map(({ id, label, current, lastUsedAt, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{label}</th>
                <td>{time(lastUsedAt)}</td>
                <td>{time(expiresAt)}</td>
                <td>
                  {current ? (
                    <State grade="ok">{texts.thisOne}</State>
                  ) : (
                    <div className="row-actions">
                      <Act name={`${texts.end}: ${label}`} onAct={() => accountClient.endLogin(id).then(loaded.reload)}>
                        {texts.end}
                      </Act>
                    </div>
                  )}
                </td>
              </tr>
            ))}
          </Table>
          {loaded.data.length > 1 && (
            <div>
              <Act onAct={() => accountClient.endOtherLogins().then(loaded.reload)}>{texts.endOthers}</Act>
            </div>
          )}
        </div>
      )}
    </Section>
  );
}
