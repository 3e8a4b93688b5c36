import { ChevronDown, Download, KeyRound, LockKeyhole, LogOut, Shield, Trash2, UserCheck, UserX } from "lucide-react";
import { useEffect, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ErasureView, UserView } from "../../src/protocol/people/accounts.ts";
import { Keys } from "./keys.tsx";
import type { Role } from "../../src/protocol/base/callers.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { groups, users } from "./admin-client.ts";
import { time } from "../parts/format.ts";
import { type AnswerState, useAnswer } from "../parts/answers.ts";
import { Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { Act, useAct } from "../parts/action-button.tsx";
import { MenuBehind, type MenuEntry } from "../parts/menus/menu.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { OneTimeSecretBox } from "../parts/one-time-secret.tsx";
import { PageLink } from "../parts/page-link.tsx";

const roleNames = { user: t`user`, admin: t`admin` };

type OneTimeSecret = { readonly label: string; readonly text: string };

const roles: readonly (readonly [Role, string])[] = [
  ["user", t`user`],
  ["admin", t`admin`],
];

/** Accounts: made, invited, changed, their data saved or erased. */
export function People() {
  const loaded = useAnswer(["admin", "users"], users.list);
  const erasures = useAnswer(["admin", "erasures"], users.erasures, { everyMs: (all = []) => isAtWork(all) && 1000 });
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
          label={t`Search names`}
          type="search"
          value={search}
          onChange={(value) => changeQuery({ search: value })}
        />
        <PageLink to="/admin/groups">{t`Groups and permissions`}</PageLink>
      </div>
      <Waiting of={loaded} />
      {shown && (
        <Table name={t`Accounts`} head={[t`Name`, t`Role`, t`State`, t`Actions`]}>
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
  const { problem, act } = useAct((deed: () => Promise<void>) => deed());
  const change = (what: Parameters<typeof users.change>[1]) => act(() => users.change(id, what).then(onChange));
  async function reset(): Promise<void> {
    const { url, expiresAt } = await users.reset(id);
    onTold({
      label: t`${name} can set a new password with this link, once, until ${{ until: time(expiresAt) }}:`,
      text: url,
    });
  }
  const entries: readonly MenuEntry[] = [
    {
      name: disabled ? t`Enable` : t`Disable`,
      icon: disabled ? UserCheck : UserX,
      onChoose: () => change({ disabled: !disabled }),
    },
    {
      name: role === "admin" ? t`Make user` : t`Make admin`,
      icon: Shield,
      onChoose: () => change({ role: role === "admin" ? "user" : "admin" }),
    },
    { name: t`Reset password…`, icon: LockKeyhole, onChoose: () => act(reset) },
    { name: t`Keys…`, icon: KeyRound, onChoose: () => changeQuery({ keys: id, erase: undefined }) },
    { name: t`Log out everywhere`, icon: LogOut, onChoose: () => act(() => users.logOut(id)) },
    { name: t`Export data`, icon: Download, href: users.archiveOf(id) },
    { name: t`Erase…`, icon: Trash2, isGrave: true, onChoose: () => changeQuery({ erase: id, keys: undefined }) },
  ];
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{roleNames[role]}</td>
      <td>{disabled ? <State grade="quiet">{t`disabled`}</State> : <State grade="ok">{t`active`}</State>}</td>
      <td>
        <div className="row-actions">
          <MenuBehind name={`${t`More`}: ${name}`} look="button" entries={entries}>
            {t`More`} <ChevronDown size={14} aria-hidden />
          </MenuBehind>
        </div>
        <Problem text={problem} />
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
      name={t`Create account`}
      submit={t`Create account`}
      onSubmit={async () => {
        const { user, key, expiresAt } = await users.add({ name, role });
        setName("");
        onMade({
          label:
            expiresAt === null
              ? t`API key for ${{ name: user.name }}. You won't see it again:`
              : t`API key for ${{ name: user.name }}, with all of the account's permissions, valid until ${{ end: time(expiresAt) }}. You won't see it again:`,
          text: key,
        });
        onChange();
      }}
    >
      <TextField label={t`Name`} name="name" value={name} onChange={setName} isNeeded />
      <ChoiceField label={t`Role`} value={role} options={roles} onChange={(value) => setRole(value as Role)} />
    </Form>
  );
}

function Invitations({ onMade }: { readonly onMade: (told: OneTimeSecret) => void }) {
  const loaded = useAnswer(["admin", "invites"], groups.invites);
  const [role, setRole] = useState<Role>("user");
  const [into, setInto] = useState("");
  const [days, setDays] = useState("7");
  return (
    <details>
      <summary>{t`Invitations (${{ count: loaded.data?.length ?? 0 }} open)`}</summary>
      <div className="grid gap-3 py-3">
        <Form
          name={t`Invite`}
          submit={t`Invite`}
          onSubmit={async () => {
            const names = into.split(/[\s,]+/).filter((each) => each !== "");
            const { url, expiresAt } = await groups.invite({ role, groups: names, days: Number(days) });
            onMade({
              label: t`One person can create an account with this link, until ${{ until: time(expiresAt) }}:`,
              text: url,
            });
            loaded.reload();
          }}
        >
          <ChoiceField label={t`Role`} value={role} options={roles} onChange={(value) => setRole(value as Role)} />
          <TextField label={t`Add to groups`} name="groups" value={into} onChange={setInto} />
          <TextField
            label={t`Valid for (days)`}
            name="days"
            type="number"
            least={1}
            isWhole
            value={days}
            onChange={setDays}
            isNeeded
          />
        </Form>
        <Waiting of={loaded} />
        <ul className="grid gap-1">
          {loaded.data?.map(({ id, role: of, groups: names, expiresAt }) => (
            <li key={id} className="flex flex-wrap items-center gap-3">
              {names.join(", ") === ""
                ? t`${{ role: roleNames[of] }}, until ${{ until: time(expiresAt) }}`
                : t`${{ role: roleNames[of] }}, in ${{ into: names.join(", ") }}, until ${{ until: time(expiresAt) }}`}
              <Act onAct={() => groups.withdrawInvite(id).then(loaded.reload)}>{t`Revoke`}</Act>
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
    <section className="grid gap-3 rounded-card border border-bad p-3" aria-label={t`Erase ${{ name: user.name }}`}>
      <h2>{t`Erase ${{ name: user.name }}`}</h2>
      <p>{t`This can't be undone. The account is deleted with its conversations, files and keys, and with everything it said in other people's conversations.`}</p>
      <Form
        name={t`Erase…`}
        submit={t`Erase permanently`}
        isGrave
        onSubmit={async () => {
          await users.erase(user.id, confirm);
          onBegun();
        }}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ erase: undefined })}>
            {t`Cancel`}
          </button>
        }
      >
        <TextField
          label={t`Type the account name to confirm`}
          name="confirm"
          value={confirm}
          onChange={setConfirm}
          isNeeded
        />
      </Form>
    </section>
  );
}

const isAtWork = (all: readonly ErasureView[]) => all.some(({ doneAt }) => doneAt === null);

function Erasures({ of }: { readonly of: AnswerState<readonly ErasureView[]> }) {
  const { data = [] } = of;
  if (data.length === 0) return <Problem text={of.problem} />;
  return (
    <details open={isAtWork(data)}>
      <summary>{t`Erased accounts (${{ count: data.length }})`}</summary>
      <ul className="py-2" role="status">
        {data.map(({ id, begunAt, step, problem, doneAt }) => (
          <li key={id}>
            {time(begunAt)}: {doneAt === null ? t`erasing (${step})` : t`erased ${{ when: time(doneAt) }}`} {problem}
          </li>
        ))}
      </ul>
    </details>
  );
}
