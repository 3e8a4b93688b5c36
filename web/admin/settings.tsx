import { t } from "@lingui/core/macro";
import { changeQuery, useQuery } from "../page/path.ts";
import { overview } from "./admin-client.ts";
import { useAnswer } from "../parts/answers.ts";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
/** What the server calls a value that nobody has set. */
const byDefault = "default";

/** What the server is configured with, and who says so. */
export function Settings() {
  const loaded = useAnswer(["admin", "settings"], overview.settings);
  const query = useQuery();
  const search = query.get("search") ?? "";
  const isSetOnly = query.get("set") === "only";
  const shown = loaded.data?.filter(
    ({ path, value, source }) =>
      (!isSetOnly || source !== byDefault) &&
      `${path} ${settingText(value)} ${source}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <>
      <p className="text-muted">{t`The configuration that the server started with. Change it in the environment or in colloquy.yaml, then restart the server. Secrets are hidden.`}</p>
      <div className="flex flex-wrap gap-3">
        <TextField
          label={t`Search`}
          type="search"
          value={search}
          onChange={(value) => changeQuery({ search: value })}
        />
        <ChoiceField
          label={t`Show`}
          value={isSetOnly ? "only" : ""}
          onChange={(value) => changeQuery({ set: value })}
          options={[
            ["", t`all`],
            ["only", t`only changed`],
          ]}
        />
      </div>
      <Waiting of={loaded} />
      {shown && (
        <Table name={t`Settings`} head={[t`Setting`, t`Value`, t`Set by`]}>
          {shown.map(({ path, value, source }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td>
                <code className="break-all whitespace-pre-wrap">{settingText(value)}</code>
              </td>
              <td className={source === byDefault ? "text-muted" : ""}>{source === byDefault ? t`default` : source}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function settingText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
