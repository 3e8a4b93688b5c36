import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { GroupView } from "../../src/protocol/people/accounts.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { groups, users } from "./admin-client.ts";
import { linesOf } from "./definition-fields.ts";
import { useAnswer } from "../parts/answers.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { confirmAction } from "../parts/confirm.tsx";
/** Of all accounts; what it grants is what each user may. */
const everyone = "everyone";

/** What people may: each the sum of what their groups grant. */
export function Groups() {
  const loaded = useAnswer(["admin", "groups"], groups.list);
  const [name, setName] = useState("");
  const opened = useQuery().get("edit");
  const group = loaded.data?.find((each) => each.name === opened);
  return (
    <>
      <p className="text-muted">{t`Members get their groups' combined permissions; admins can do everything. “everyone” applies to every account.`}</p>
      <Form
        name={t`Create group`}
        submit={t`Create group`}
        onSubmit={async () => {
          await groups.save(name.trim(), []);
          setName("");
          loaded.reload();
          changeQuery({ edit: name.trim() });
        }}
      >
        <TextField label={t`Name`} name="name" value={name} onChange={setName} isNeeded />
      </Form>
      {group && <Group key={group.name} group={group} onChange={loaded.reload} />}
      <Waiting of={loaded} />
      {loaded.data && (
        <Table name={t`Groups`} head={[t`Name`, t`Permissions`, t`Members`, t`Actions`]}>
          {loaded.data.map(({ name: id, permissions, members }) => (
            <tr key={id}>
              <th scope="row">{id}</th>
              <td>
                <code>{permissions.join(", ")}</code>
              </td>
              <td>{id === everyone ? t`all accounts` : members}</td>
              <td>
                <div className="row-actions">
                  <button
                    type="button"
                    className="button"
                    aria-label={`${t`Edit`}: ${id}`}
                    onClick={() => changeQuery({ edit: id })}
                  >
                    {t`Edit`}
                  </button>
                  <Act
                    name={`${id === everyone ? t`Reset to default` : t`Delete`}: ${id}`}
                    isSure={
                      id === everyone
                        ? undefined
                        : () =>
                            confirmAction({
                              ...{
                                title: t`Delete the group ${{ name: id }}?`,
                                text: t`Its members lose the permissions that no other group gives them.`,
                              },
                              action: t`Delete`,
                            })
                    }
                    onAct={() => groups.remove(id).then(loaded.reload)}
                  >
                    {id === everyone ? t`Reset to default` : t`Delete`}
                  </Act>
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function Group({ group, onChange }: { readonly group: GroupView; readonly onChange: () => void }) {
  const [permissions, setPermissions] = useState(group.permissions.join("\n"));
  return (
    <section className="grid gap-3 rounded-card border border-hairline p-3" aria-label={group.name}>
      <h2>{group.name}</h2>
      <Form
        name={t`Permissions`}
        asksBeforeLeaving
        submit={t`Save`}
        onSubmit={() => groups.save(group.name, linesOf(permissions)).then(onChange)}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ edit: undefined })}>
            {t`Close`}
          </button>
        }
      >
        <Field
          label={t`One per line: agent:<id>, model:<id>, tool:<name>, collection:<name>, room:<name>; * matches anything`}
          name="permissions"
          isWide
        >
          {(control) => (
            <textarea
              {...control}
              className="field w-full text-ink"
              rows={6}
              value={permissions}
              placeholder={"agent:*\nmodel:gpt-*\ntool:calculate"}
              spellCheck={false}
              onChange={(event) => setPermissions(event.target.value)}
            />
          )}
        </Field>
      </Form>
      {group.name !== everyone && <Members name={group.name} onChange={onChange} />}
    </section>
  );
}

function Members({ name, onChange }: { readonly name: string; readonly onChange: () => void }) {
  const members = useAnswer(["admin", "members of group", name], (signal) => groups.members(name, signal));
  const all = useAnswer(["admin", "users"], users.list);
  const [chosen, setChosen] = useState("");
  const changed = () => {
    members.reload();
    onChange();
  };
  const others = (all.data ?? []).filter(({ id }) => !members.data?.some((member) => member.id === id));
  return (
    <>
      <Waiting of={members} />
      <ul className="flex flex-wrap gap-3">
        {members.data?.map((member) => (
          <li key={member.id} className="flex items-center gap-2">
            {member.name}
            <Act name={`${t`Remove`}: ${member.name}`} onAct={() => groups.removeMember(name, member.id).then(changed)}>
              {t`Remove`}
            </Act>
          </li>
        ))}
      </ul>
      <Form
        name={t`Add to group`}
        submit={t`Add to group`}
        onSubmit={async () => {
          if (chosen === "") throw new Error(t`Choose a person.`);
          await groups.addMember(name, chosen);
          setChosen("");
          changed();
        }}
      >
        <ChoiceField
          label={t`Name`}
          value={chosen}
          onChange={setChosen}
          options={[["", "–"], ...others.map(({ id, name: text }): [string, string] => [id, text])]}
        />
      </Form>
    </>
  );
}
