import { changeQuery, useQuery } from "../page/path.ts";
import { adminWords } from "./admin-words.ts";
import { overview } from "./admin-client.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const texts = adminWords.settings;
/** What the server calls a value that nobody has set. */
const byDefault = "default";

/** What the server is configured with, and who says so. */
export function Settings() {
  const loaded = useLoaded("settings", overview.settings);
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
      <p className="text-muted">{texts.explain}</p>
      <div className="flex flex-wrap gap-3">
        <TextField
          label={texts.search}
          type="search"
          value={search}
          onChange={(value) => changeQuery({ search: value })}
        />
        <ChoiceField
          label={texts.which}
          value={isSetOnly ? "only" : ""}
          onChange={(value) => changeQuery({ set: value })}
          options={[
            ["", texts.all],
            ["only", texts.setOnly],
          ]}
        />
      </div>
      <Waiting of={loaded} />
      {shown && (
        <Table name={texts.title} head={[texts.path, texts.value, texts.source]}>
          {shown.map(({ path, value, source }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td>
                <code className="break-all whitespace-pre-wrap">{settingText(value)}</code>
              </td>
              <td className={source === byDefault ? "text-muted" : ""}>
                {source === byDefault ? texts.byDefault : source}
              </td>
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
