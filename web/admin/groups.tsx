import { useState } from "react";
import type { GroupView } from "../../src/protocol/people/accounts.ts";
import { changeQuery, useQuery } from "../page/path.ts";
import { words } from "../words/words.ts";
import { adminWords } from "./admin-words.ts";
import { groups, users } from "./admin-client.ts";
import { linesOf } from "./definition-fields.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { confirmAction } from "../parts/confirm.tsx";

const texts = adminWords.groups;
/** Of all accounts; what it grants is what each user may. */
const everyone = "everyone";

/** What people may: each the sum of what their groups grant. */
export function Groups() {
  const loaded = useLoaded("groups", groups.list);
  const [name, setName] = useState("");
  const opened = useQuery().get("edit");
  const group = loaded.data?.find((each) => each.name === opened);
  return (
    <>
      <p className="text-muted">{texts.explain}</p>
      <Form
        name={texts.add}
        submit={texts.add}
        onSubmit={async () => {
          await groups.save(name.trim(), []);
          setName("");
          loaded.reload();
          changeQuery({ edit: name.trim() });
        }}
      >
        <TextField label={texts.name} value={name} onChange={setName} isNeeded />
      </Form>
      {group && <Group key={group.name} group={group} onChange={loaded.reload} />}
      <Waiting of={loaded} />
      {loaded.data && (
        <Table name={texts.title} head={[texts.name, texts.permissions, texts.members, adminWords.people.actions]}>
          {loaded.data.map(({ name: id, permissions, members }) => (
            <tr key={id}>
              <th scope="row">{id}</th>
              <td>
                <code>{permissions.join(", ")}</code>
              </td>
              <td>{id === everyone ? texts.all : members}</td>
              <td>
                <div className="row-actions">
                  <button
                    type="button"
                    className="button"
                    aria-label={`${texts.edit}: ${id}`}
                    onClick={() => changeQuery({ edit: id })}
                  >
                    {texts.edit}
                  </button>
                  <Act
                    name={`${id === everyone ? texts.reset : words.delete}: ${id}`}
                    isSure={
                      id === everyone
                        ? undefined
                        : () => confirmAction({ ...texts.deleteSure(id), action: words.delete })
                    }
                    onAct={() => groups.remove(id).then(loaded.reload)}
                  >
                    {id === everyone ? texts.reset : words.delete}
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
        name={texts.permissions}
        submit={texts.save}
        onSubmit={() => groups.save(group.name, linesOf(permissions)).then(onChange)}
        beside={
          <button type="button" className="button" onClick={() => changeQuery({ edit: undefined })}>
            {words.close}
          </button>
        }
      >
        <Field label={texts.perLine} isWide>
          <textarea
            className="field w-full text-ink"
            rows={6}
            value={permissions}
            placeholder={"agent:*\nmodel:gpt-*\ntool:calculate"}
            spellCheck={false}
            onChange={(event) => setPermissions(event.target.value)}
          />
        </Field>
      </Form>
      {group.name !== everyone && <Members name={group.name} onChange={onChange} />}
    </section>
  );
}

function Members({ name, onChange }: { readonly name: string; readonly onChange: () => void }) {
  const members = useLoaded(`members ${name}`, (signal) => groups.members(name, signal));
  const all = useLoaded("users", users.list);
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
            <Act
              name={`${texts.takeOut}: ${member.name}`}
              onAct={() => groups.removeMember(name, member.id).then(changed)}
            >
              {texts.takeOut}
            </Act>
          </li>
        ))}
      </ul>
      <Form
        name={texts.addMember}
        submit={texts.addMember}
        onSubmit={async () => {
          if (chosen === "") throw new Error(texts.whom);
          await groups.addMember(name, chosen);
          setChosen("");
          changed();
        }}
      >
        <ChoiceField
          label={adminWords.people.name}
          value={chosen}
          onChange={setChosen}
          options={[["", "–"], ...others.map(({ id, name: text }): [string, string] => [id, text])]}
        />
      </Form>
    </>
  );
}
