import { useEffect, useState } from "react";
import type { ErasureView, UserView } from "../../src/protocol/people/accounts.ts";
import { Keys } from "./keys.tsx";
import type { Role } from "../../src/protocol/base/callers.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { words } from "../words/words.ts";
import { adminWords } from "./admin-words.ts";
import { groups, users } from "./admin-client.ts";
import { time } from "../parts/format.ts";
import { type LoadState, useLoaded } from "../parts/use-loaded.ts";
import { usePolling } from "../parts/use-polling.ts";
import { Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { PageLink } from "../parts/page-link.tsx";

const texts = adminWords.people;

type OneTimeSecret = { readonly label: string; readonly text: string };

const roles: readonly (readonly [Role, string])[] = [
  ["user", texts.roles.user],
  ["admin", texts.roles.admin],
];

/** Accounts: made, invited, changed, their data saved or erased. */
export function People() {
  const loaded = useLoaded("users", users.list);
  const erasures = useLoaded("erasures", users.erasures);
  const [told, setTold] = useState<OneTimeSecret>();
  // An account that is being erased goes from the list at the end.
  useEffect(loaded.reload, [erasures.data]);
  const query = useQuery();
  const search = query.get("search") ?? "";
  const erasing = query.get("erase");
  const shown = loaded.data?.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const ofKeys = loaded.data?.find(({ id }) => id === query.get("keys"));
  const toErase = loaded.data?.find(({ id }) => id === erasing);
  return (
    <>
      <NewAccount onMade={setTold} onChange={loaded.reload} />
      <Invitations onMade={setTold} />
      {told && <OneTimeSecretBox {...told} onClose={() => setTold(undefined)} />}
      {ofKeys && <Keys key={ofKeys.id} user={ofKeys} onTold={setTold} />}
      {toErase && (
        <Erase
          key={toErase.id}
          user={toErase}
          onBegun={() => {
            changeQuery({ erase: undefined });
            loaded.reload();
            erasures.reload();
          }}
        />
      )}
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label={texts.search}
          type="search"
          value={search}
          onChange={(value) => changeQuery({ search: value })}
        />
        <PageLink to="/admin/groups">{texts.toGroups}</PageLink>
      </div>
      <Waiting of={loaded} />
      {shown && (
        <Table name={texts.title} head={[texts.name, texts.role, texts.state, texts.actions]}>
          {shown.map((user) => (
            <Account key={user.id} user={user} onChange={loaded.reload} onTold={setTold} />
          ))}
        </Table>
      )}
      <Erasures of={erasures} />
    </>
  );
}

type AccountProps = {
  readonly user: UserView;
  readonly onChange: () => void;
  readonly onTold: (told: OneTimeSecret) => void;
};

function Account({ user: { id, name, role, disabled }, onChange, onTold }: AccountProps) {
  const change = (what: Parameters<typeof users.change>[1]) => users.change(id, what).then(onChange);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{texts.roles[role]}</td>
      <td>{disabled ? <State grade="quiet">{texts.disabled}</State> : <State grade="ok">{texts.active}</State>}</td>
      <td>
        <div className="row-actions">
          <Act
            name={`${disabled ? texts.enable : texts.disable}: ${name}`}
            onAct={() => change({ disabled: !disabled })}
          >
            {disabled ? texts.enable : texts.disable}
          </Act>
          <Act
            name={`${role === "admin" ? texts.makeUser : texts.makeAdmin}: ${name}`}
            onAct={() => change({ role: role === "admin" ? "user" : "admin" })}
          >
            {role === "admin" ? texts.makeUser : texts.makeAdmin}
          </Act>
          <Act
            name={`${texts.reset}: ${name}`}
            onAct={async () => {
              const { url, expiresAt } = await users.reset(id);
              onTold({ label: texts.resetLink(name, time(expiresAt)), text: url });
            }}
          >
            {texts.reset}
          </Act>
          <button
            type="button"
            className="button"
            aria-label={`${texts.keys}: ${name}`}
            onClick={() => changeQuery({ keys: id, erase: undefined })}
          >
            {texts.keys}
          </button>
          <Act name={`${texts.logOut}: ${name}`} onAct={() => users.logOut(id)}>
            {texts.logOut}
          </Act>
          <a className="button" href={users.archiveOf(id)} download aria-label={`${texts.save}: ${name}`}>
            {texts.save}
          </a>
          <button
            type="button"
            className="button text-bad"
            aria-label={`${texts.erase}: ${name}`}
            onClick={() => changeQuery({ erase: id, keys: undefined })}
          >
            {texts.erase}
          </button>
        </div>
      </td>
    </tr>
  );
}

type NewAccountProps = { readonly onMade: (told: OneTimeSecret) => void; readonly onChange: () => void };

function NewAccount({ onMade, onChange }: NewAccountProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("user");
  return (
    <Form
      name={texts.add}
      submit={texts.add}
      onSubmit={async () => {
        const { user, key, expiresAt } = await users.add({ name, role });
        setName("");
        onMade({
          label: expiresAt === null ? texts.keyOf(user.name) : texts.firstKeyOf(user.name, time(expiresAt)),
          text: key,
        });
        onChange();
      }}
    >
      <TextField label={texts.name} value={name} onChange={setName} isNeeded />
      <ChoiceField label={texts.role} value={role} options={roles} onChange={(value) => setRole(value as Role)} />
    </Form>
  );
}

function Invitations({ onMade }: { readonly onMade: (told: OneTimeSecret) => void }) {
  const loaded = useLoaded("invites", groups.invites);
  const [role, setRole] = useState<Role>("user");
  const [into, setInto] = useState("");
  const [days, setDays] = useState("7");
  return (
    <details>
      <summary>{texts.invitations(loaded.data?.length ?? 0)}</summary>
      <div className="grid gap-3 py-3">
        <Form
          name={texts.invite}
          submit={texts.invite}
          onSubmit={async () => {
            const names = into.split(/[\s,]+/).filter((each) => each !== "");
            const { url, expiresAt } = await groups.invite({ role, groups: names, days: Number(days) });
            onMade({ label: texts.inviteLink(time(expiresAt)), text: url });
            loaded.reload();
          }}
        >
          <ChoiceField label={texts.role} value={role} options={roles} onChange={(value) => setRole(value as Role)} />
          <TextField label={texts.intoGroups} value={into} onChange={setInto} />
          <TextField label={texts.days} type="number" value={days} onChange={setDays} isNeeded />
        </Form>
        <Waiting of={loaded} />
        <ul className="grid gap-1">
          {loaded.data?.map(({ id, role: of, groups: names, expiresAt }) => (
            <li key={id} className="flex flex-wrap items-center gap-3">
              {texts.invited(texts.roles[of], names.join(", "), time(expiresAt))}
              <Act onAct={() => groups.withdrawInvite(id).then(loaded.reload)}>{texts.withdraw}</Act>
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}

/** Not to be undone, so the name is asked for. */
function Erase({ user, onBegun }: { readonly user: UserView; readonly onBegun: () => void }) {
  const [confirm, setConfirm] = useState("");
  return (
    <section className="grid gap-3 rounded-card border border-bad p-3" aria-label={texts.eraseTitle(user.name)}>
      <h2>{texts.eraseTitle(user.name)}</h2>
      <p>{texts.eraseWhat}</p>
      <Form
        name={texts.erase}
        submit={texts.eraseNow}
        onSubmit={async () => {
          await users.erase(user.id, confirm);
          onBegun();
        }}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ erase: undefined })}>
            {words.cancel}
          </button>
        }
      >
        <TextField label={texts.eraseConfirm} value={confirm} onChange={setConfirm} isNeeded />
      </Form>
    </section>
  );
}

function Erasures({ of }: { readonly of: LoadState<readonly ErasureView[]> }) {
  const { data = [], reload } = of;
  const isAtWork = data.some(({ doneAt }) => doneAt === null);
  usePolling(isAtWork, reload);
  if (data.length === 0) return <Problem text={of.problem} />;
  return (
    <details open={isAtWork}>
      <summary>{texts.erasures(data.length)}</summary>
      <ul className="py-2" role="status">
        {data.map(({ id, begunAt, step, problem, doneAt }) => (
          <li key={id}>
            {time(begunAt)}: {doneAt === null ? texts.erasing(step) : texts.erasedAt(time(doneAt))} {problem}
          </li>
        ))}
      </ul>
    </details>
  );
}
