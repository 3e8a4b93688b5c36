import { useState } from "react";
import type { KeyView } from "../../src/protocol/people/accounts.ts";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { ScopesField, scopesIn } from "../parts/forms/scopes-field.tsx";
import { accountClient } from "./account-client.ts";
import { Section, SettingsTable } from "./section.tsx";
import { settingsWords } from "./settings-words.ts";

const texts = settingsWords.access;

/** Made, told once, and revoked. */
export function ApiKeys() {
  const loaded = useLoaded("own keys", accountClient.keys);
  const [made, setMade] = useState<string>();
  return (
    <Section title={texts.keys} explain={texts.keysExplain}>
      <NewKey
        onMade={(text) => {
          setMade(text);
          loaded.reload();
        }}
      />
      {made !== undefined && <OneTimeSecretBox label={texts.once} text={made} onClose={() => setMade(undefined)} />}
      <SettingsTable
        name={texts.keys}
        head={[texts.label, texts.scopes, texts.lastUsed, texts.ends, texts.state, texts.actions]}
        loaded={loaded}
        none={texts.noKeys}
        row={(key) => <KeyRow key={key.id} of={key} onChanged={loaded.reload} />}
      />
    </Section>
  );
}

function KeyRow({ of, onChanged }: { readonly of: KeyView; readonly onChanged: () => void }) {
  const { id, label, scopes, lastUsedAt, expiresAt, revokedAt, unscopedUntil } = of;
  const hasEnded = expiresAt !== null && Date.parse(expiresAt) < Date.now();
  const state = revokedAt !== null ? "revoked" : hasEnded ? "ended" : "counts";
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        {scopes && <code className="break-all">{scopes.join(" ")}</code>}
        {unscopedUntil !== null && <p>{texts.unscoped(time(unscopedUntil))}</p>}
        {unscopedUntil !== null && state === "counts" && <ChosenScopes of={of} onChanged={onChanged} />}
      </td>
      <td>{lastUsedAt === null ? texts.never : time(lastUsedAt)}</td>
      <td>{expiresAt === null ? texts.never : time(expiresAt)}</td>
      <td>
        <State grade={state === "counts" ? "ok" : "quiet"}>{texts.states[state]}</State>
      </td>
      <td>
        {state === "counts" && (
          <div className="row-actions">
            <Act name={`${texts.revoke}: ${label}`} onAct={() => accountClient.revokeKey(id).then(onChanged)}>
              {texts.revoke}
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
      name={`${texts.choose}: ${label}`}
      submit={texts.choose}
      onSubmit={() => accountClient.changeKey(id, { scopes: scopesIn(scopes) }).then(onChanged)}
    >
      <ScopesField label={texts.scopes} value={scopes} onChange={setScopes} />
    </Form>
  );
}

function NewKey({ onMade }: { readonly onMade: (text: string) => void }) {
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState("agents:*");
  const [days, setDays] = useState("90");
  return (
    <Form
      name={texts.make}
      submit={texts.make}
      onSubmit={async () => {
        const { text } = await accountClient.addKey({
          label,
          scopes: scopesIn(scopes),
          ...(days !== "" && { expiresInDays: Number(days) }),
        });
        setLabel("");
        onMade(text);
      }}
      beside={<p className="basis-full text-xs text-muted">{texts.scopesExplain}</p>}
    >
      <TextField label={texts.label} value={label} onChange={setLabel} hint={texts.labelHint} isNeeded />
      <ScopesField label={texts.scopes} value={scopes} onChange={setScopes} />
      <TextField label={texts.days} type="number" value={days} onChange={setDays} />
    </Form>
  );
}
