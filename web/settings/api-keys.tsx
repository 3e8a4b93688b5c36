import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { KeyView } from "../../src/protocol/people/accounts.ts";
import { isPast, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { ScopesField, scopesIn } from "../parts/forms/scopes-field.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";

const stateNames = { counts: t`active`, revoked: t`revoked`, ended: t`expired` };

/** Made, told once, and revoked. */
export function ApiKeys() {
  const loaded = useAnswer(["keys"], accountClient.keys);
  const [made, setMade] = useState<string>();
  return (
    <Section title={t`API keys`} explain={t`Programs use an API key to act as you. Only its hash is stored.`}>
      <NewKey
        onMade={(text) => {
          setMade(text);
          loaded.reload();
        }}
      />
      {made !== undefined && (
        <OneTimeSecretBox
          label={t`Copy this key and keep it safe. You won't see it again:`}
          text={made}
          onClose={() => setMade(undefined)}
        />
      )}
      <SettingsTable
        name={t`API keys`}
        head={[t`Label`, t`Scopes`, t`Last used`, t`Expires`, t`State`, t`Actions`]}
        loaded={loaded}
        none={t`No API keys`}
        row={(key) => <KeyRow key={key.id} of={key} onChanged={loaded.reload} />}
      />
    </Section>
  );
}

function KeyRow({ of, onChanged }: { readonly of: KeyView; readonly onChanged: () => void }) {
  const { id, label, scopes, lastUsedAt, expiresAt, revokedAt, unscopedUntil } = of;
  const hasEnded = expiresAt !== null && isPast(expiresAt);
  const state = revokedAt !== null ? "revoked" : hasEnded ? "ended" : "counts";
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        {scopes && <code className="break-all">{scopes.join(" ")}</code>}
        {unscopedUntil !== null && (
          <p>{t`all your permissions until ${{ until: time(unscopedUntil) }}; then it expires, unless you choose scopes`}</p>
        )}
        {unscopedUntil !== null && state === "counts" && <ChosenScopes of={of} onChanged={onChanged} />}
      </td>
      <td>{lastUsedAt === null ? t`never` : time(lastUsedAt)}</td>
      <td>{expiresAt === null ? t`never` : time(expiresAt)}</td>
      <td>
        <State grade={state === "counts" ? "ok" : "quiet"}>{stateNames[state]}</State>
      </td>
      <td>
        {state === "counts" && (
          <div className="row-actions">
            <Act name={`${t`Revoke`}: ${label}`} onAct={() => accountClient.revokeKey(id).then(onChanged)}>
              {t`Revoke`}
            </Act>
          </div>
        )}
      </td>
    </tr>
  );
}

/** For a key that names nothing yet. */
function ChosenScopes({ of: { id, label }, onChanged }: { readonly of: KeyView; readonly onChanged: () => void }) {
  const [scopes, setScopes] = useState("");
  return (
    <Form
      name={`${t`Choose scopes`}: ${label}`}
      submit={t`Choose scopes`}
      onSubmit={() => accountClient.changeKey(id, { scopes: scopesIn(scopes) }).then(onChanged)}
    >
      <ScopesField label={t`Scopes`} value={scopes} onChange={setScopes} />
    </Form>
  );
}

function NewKey({ onMade }: { readonly onMade: (text: string) => void }) {
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState("agents:*");
  const [days, setDays] = useState("90");
  return (
    <Form
      name={t`Create key`}
      submit={t`Create key`}
      onSubmit={async () => {
        const { text } = await accountClient.addKey({
          label,
          scopes: scopesIn(scopes),
          ...(days !== "" && { expiresInDays: Number(days) }),
        });
        setLabel("");
        onMade(text);
      }}
      beside={
        <p className="basis-full text-xs text-muted">{t`Separate scopes with spaces: agents:assistant, tools:*, threads:read, knowledge:*, admin:users. * grants all your permissions.`}</p>
      }
    >
      <TextField label={t`Label`} name="label" value={label} onChange={setLabel} hint={t`laptop`} isNeeded />
      <ScopesField label={t`Scopes`} value={scopes} onChange={setScopes} />
      <TextField
        label={t`Expires after (days)`}
        name="expiresInDays"
        type="number"
        least={1}
        isWhole
        value={days}
        onChange={setDays}
      />
    </Form>
  );
}
