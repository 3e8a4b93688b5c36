import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { KeyView, UserView } from "../../src/protocol/people/accounts.ts";
import { isPast, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { ScopesField, scopesIn } from "../parts/forms/scopes-field.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { changeQuery } from "../page/path.ts";
import { users } from "./admin-client.ts";

type KeysProps = {
  readonly user: UserView;
  readonly onTold: (told: { readonly label: string; readonly text: string }) => void;
};

/** With what programs come in as a person: made, and revoked. */
export function Keys({ user: { id, name }, onTold }: KeysProps) {
  const loaded = useAnswer(["admin", "keys", id], (signal) => users.keys(id, signal));
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState("agents:*");
  return (
    <section className="grid gap-3 rounded-card border border-hairline p-3" aria-label={t`API keys of ${name}`}>
      <h2>{t`API keys of ${name}`}</h2>
      <Form
        name={t`New key`}
        submit={t`New key`}
        onSubmit={async () => {
          const { text } = await users.addKey(id, {
            label: label.trim() || t`created by an admin`,
            scopes: scopesIn(scopes),
          });
          setLabel("");
          onTold({ label: t`API key for ${name}. You won't see it again:`, text });
          loaded.reload();
        }}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ keys: undefined })}>
            {t`Close`}
          </button>
        }
      >
        <TextField label={t`Label`} name="label" value={label} onChange={setLabel} hint={t`created by an admin`} />
        <ScopesField label={t`Scopes`} value={scopes} onChange={setScopes} />
      </Form>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{t`No API keys`}</p>}
      {loaded.data && loaded.data.length > 0 && (
        <Table name={t`API keys of ${name}`} head={[t`Label`, t`Created`, t`Last used`, t`State`, t`Actions`]}>
          {loaded.data.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                {key.label}
                {key.scopes !== null && <div className="font-normal text-muted">{key.scopes.join(", ")}</div>}
              </th>
              <td className="whitespace-nowrap">{time(key.createdAt)}</td>
              <td className="whitespace-nowrap">{key.lastUsedAt === null ? t`never` : time(key.lastUsedAt)}</td>
              <td>
                <Validity of={key} />
              </td>
              <td>
                <div className="row-actions">
                  {key.revokedAt === null && (
                    <Act name={`${t`Revoke`}: ${key.label}`} onAct={() => users.revokeKey(key.id).then(loaded.reload)}>
                      {t`Revoke`}
                    </Act>
                  )}
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function Validity({ of: { revokedAt, expiresAt } }: { readonly of: KeyView }) {
  if (revokedAt !== null) return <State grade="quiet">{t`revoked ${{ when: time(revokedAt) }}`}</State>;
  if (expiresAt === null) return <State grade="ok">{t`valid`}</State>;
  return isPast(expiresAt) ? (
    <State grade="quiet">{t`expired ${{ when: time(expiresAt) }}`}</State>
  ) : (
    <State grade="ok">{t`valid until ${{ when: time(expiresAt) }}`}</State>
  );
}
