import { useState } from "react";
import { t } from "@lingui/core/macro";
import { useMe } from "../page/me.ts";
import { time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { accountClient } from "./account-client.ts";
import { Section } from "./section.tsx";

const roleNames = { admin: t`admin`, user: t`user` };

/** Who one is here, and one's ways in. */
export function Account() {
  const me = useMe();
  if (!me) return null;
  return (
    <>
      {me.via === "session" ? (
        <>
          <p>
            {t`Signed in as`} <strong>{me.username}</strong> ({roleNames[me.role]})
            {me.groups.length > 0 && `. ${t`Groups`}: ${me.groups.join(", ")}`}
          </p>
          <Password />
          <Logins />
        </>
      ) : (
        <>
          <p>{t`This server has one owner and no accounts. Everyone on this machine can chat; the owner manages it.`}</p>
          {!me.asksOnly && me.via === "local" && <Logins />}
        </>
      )}
      <Section title={t`Your data`} explain={t`Everything that this server stores about you, in one archive.`}>
        <div>
          <a className="button" href={accountClient.archive} download>
            {t`Download`}
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
    <Section title={t`Password`} explain={t`At least 8 characters. You will be logged out everywhere else.`}>
      <Form
        name={t`Password`}
        submit={t`Change password`}
        onSubmit={async () => {
          setChanged(false);
          await accountClient.changePassword(current, wanted);
          setCurrent("");
          setWanted("");
          setChanged(true);
        }}
      >
        <TextField label={t`Current password`} type="password" value={current} onChange={setCurrent} isNeeded />
        <TextField
          label={t`New password`}
          name="password"
          type="password"
          value={wanted}
          onChange={setWanted}
          isNeeded
        />
      </Form>
      <p role="status" className="text-sm empty:hidden">
        {isChanged && <State grade="ok">{t`Password changed.`}</State>}
      </p>
    </Section>
  );
}

function Logins() {
  const loaded = useAnswer(["logins"], accountClient.logins);
  if (loaded.data?.length === 0) return null;
  return (
    <Section title={t`Where you're logged in`}>
      <Waiting of={loaded} />
      {loaded.data && (
        <div className="dense-view grid grid-cols-[minmax(0,1fr)] gap-3">
          <Table name={t`Where you're logged in`} head={[t`Browser or program`, t`Last used`, t`Expires`, t`Actions`]}>
            {loaded.data.map(({ id, label, current, lastUsedAt, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{label}</th>
                <td>{time(lastUsedAt)}</td>
                <td>{time(expiresAt)}</td>
                <td>
                  {current ? (
                    <State grade="ok">{t`this one`}</State>
                  ) : (
                    <div className="row-actions">
                      <Act
                        name={`${t`Log out`}: ${label}`}
                        onAct={() => accountClient.endLogin(id).then(loaded.reload)}
                      >
                        {t`Log out`}
                      </Act>
                    </div>
                  )}
                </td>
              </tr>
            ))}
          </Table>
          {loaded.data.length > 1 && (
            <div>
              <Act onAct={() => accountClient.endOtherLogins().then(loaded.reload)}>{t`Log out all others`}</Act>
            </div>
          )}
        </div>
      )}
    </Section>
  );
}
