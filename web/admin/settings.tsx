import { t } from "@lingui/core/macro";
import { changeQuery, useQuery } from "../page/path.ts";
import { overview } from "./admin-client.ts";
import { lasting, size } from "../parts/format.ts";
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
                <SettingValue path={path} text={settingText(value)} />
              </td>
              <td className={source === byDefault ? "text-muted" : ""}>{source === byDefault ? t`default` : source}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

/** As people say it; beside it as it is written in the configuration, where that is not the same number. */
function SettingValue({ path, text }: { readonly path: string; readonly text: string }) {
  const said = measure(path, text);
  if (said?.startsWith(`${text} `)) return said;
  return (
    <>
      {said} <code className={`break-all whitespace-pre-wrap ${said === undefined ? "" : "text-muted"}`}>{text}</code>
    </>
  );
}

/** What is measured in the unit that ends its name. */
function measure(path: string, text: string): string | undefined {
  const [, unit] = /(Bytes|Mb|Ms|Seconds|Minutes|Hours|Days)$/.exec(path) ?? [];
  if (unit === undefined || !/^[\d.]+$/.test(text)) return undefined;
  const count = Number(text);
  if (unit === "Bytes" || unit === "Mb") return size(unit === "Mb" ? count * 1024 ** 2 : count);
  return lasting(count * secondsOf[unit as keyof typeof secondsOf]);
}

const secondsOf = { Ms: 0.001, Seconds: 1, Minutes: 60, Hours: 3600, Days: 86_400 };

function settingText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
