import { useState } from "react";
import type { KeyView, UserView } from "../../src/protocol/people/accounts.ts";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { ScopesField, scopesIn } from "../parts/forms/scopes-field.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { changeQuery } from "../page/path.ts";
import { words } from "../words/words.ts";
import { users } from "./admin-client.ts";
import { adminWords } from "./admin-words.ts";

const texts = adminWords.people;

type KeysProps = {
  readonly user: UserView;
  readonly onTold: (told: { readonly label: string; readonly text: string }) => void;
};

/** With what programs come in as a person: made, and revoked. */
export function Keys({ user: { id, name }, onTold }: KeysProps) {
  const loaded = useLoaded(`keys ${id}`, (signal) => users.keys(id, signal));
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState("agents:*");
  return (
    <section className="grid gap-3 rounded-card border border-hairline p-3" aria-label={texts.keysOf(name)}>
      <h2>{texts.keysOf(name)}</h2>
      <Form
        name={texts.newKey}
        submit={texts.newKey}
        onSubmit={async () => {
          const { text } = await users.addKey(id, {
            label: label.trim() || texts.keyLabel,
            scopes: scopesIn(scopes),
          });
          setLabel("");
          onTold({ label: texts.keyOf(name), text });
          loaded.reload();
        }}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ keys: undefined })}>
            {words.close}
          </button>
        }
      >
        <TextField label={texts.keyFor} value={label} onChange={setLabel} hint={texts.keyLabel} />
        <ScopesField label={texts.keyMay} value={scopes} onChange={setScopes} />
      </Form>
      <Waiting of={loaded} />
      {loaded.data?.length === 0 && <p className="text-muted">{texts.noKeys}</p>}
      {loaded.data && loaded.data.length > 0 && (
        <Table name={texts.keysOf(name)} head={[texts.keyFor, texts.made, texts.lastUsed, texts.state, texts.actions]}>
          {loaded.data.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                {key.label}
                {key.scopes !== null && <div className="font-normal text-muted">{key.scopes.join(", ")}</div>}
              </th>
              <td className="whitespace-nowrap">{time(key.createdAt)}</td>
              <td className="whitespace-nowrap">{key.lastUsedAt === null ? texts.neverUsed : time(key.lastUsedAt)}</td>
              <td>
                <Validity of={key} />
              </td>
              <td>
                <div className="row-actions">
                  {key.revokedAt === null && (
                    <Act
                      name={`${texts.revoke}: ${key.label}`}
                      onAct={() => users.revokeKey(key.id).then(loaded.reload)}
                    >
                      {texts.revoke}
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
  if (revokedAt !== null) return <State grade="quiet">{texts.revokedAt(time(revokedAt))}</State>;
  if (expiresAt === null) return <State grade="ok">{texts.valid}</State>;
  return Date.parse(expiresAt) < Date.now() ? (
    <State grade="quiet">{texts.expiredAt(time(expiresAt))}</State>
  ) : (
    <State grade="ok">{texts.validUntil(time(expiresAt))}</State>
  );
}
