import { plural, t } from "@lingui/core/macro";
import { overview } from "./admin-client.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const gradeNames = { trouble: t`Error`, note: t`Note`, ok: t`OK` };

const aboutNames: Readonly<Record<string, string>> = {
  agents: t`agents`,
  clock: t`clock`,
  config: t`configuration`,
  database: t`database`,
  defined: t`definitions`,
  disk: t`disk`,
  files: t`files`,
  mcp: t`MCP servers`,
  model: t`model`,
  models: t`models`,
  rows: t`rows`,
  server: t`server`,
  tools: t`tools`,
  webhooks: t`webhooks`,
  websearch: t`web search`,
};
const order = ["trouble", "note", "ok"];
const grades = { trouble: "bad", note: "warn", ok: "ok" } as const;

/** What the server finds about its database and its surroundings; the worst first. */
export function Doctor() {
  const loaded = useAnswer(["admin", "doctor"], (signal) => overview.examine({}, signal));
  const found = loaded.data?.toSorted((one, other) => order.indexOf(one.grade) - order.indexOf(other.grade));
  const troubles = found?.filter(({ grade }) => grade === "trouble").length ?? 0;
  const notes = found?.filter(({ grade }) => grade === "note").length ?? 0;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <button type="button" className="button" onClick={loaded.reload}>
          {t`Check again`}
        </button>
        {found && (
          <p role="status">
            {plural({ errors: troubles }, { 0: "No errors", one: "# error", other: "# errors" })}
            {notes > 0 && ` · ${plural({ notes }, { one: "# note", other: "# notes" })}`}
          </p>
        )}
      </div>
      <Waiting of={loaded} />
      {found && (
        <Table name={t`Findings`} head={[t`Severity`, t`Area`, t`Finding`]}>
          {found.map(({ grade, about, text }) => (
            <tr key={about + text}>
              <td>
                <State grade={grades[grade]}>{gradeNames[grade]}</State>
              </td>
              <th scope="row">{aboutNames[about] ?? about}</th>
              <td className="whitespace-pre-wrap">{text}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
