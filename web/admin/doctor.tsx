import { adminWords } from "./admin-words.ts";
import { overview } from "./admin-client.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const texts = adminWords.doctor;
const order = ["trouble", "note", "ok"];
const grades = { trouble: "bad", note: "warn", ok: "ok" } as const;

/** What the server finds about its database and its surroundings; the worst first. */
export function Doctor() {
  const loaded = useLoaded("doctor", (signal) => overview.examine({}, signal));
  const found = loaded.data?.toSorted((one, other) => order.indexOf(one.grade) - order.indexOf(other.grade));
  const troubles = found?.filter(({ grade }) => grade === "trouble").length ?? 0;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <button type="button" className="button" onClick={loaded.reload}>
          {texts.again}
        </button>
        {found && <p role="status">{troubles === 0 ? texts.well : texts.troubles(troubles)}</p>}
      </div>
      <Waiting of={loaded} />
      {found && (
        <Table name={texts.title} head={[texts.grade, texts.about, texts.finding]}>
          {found.map(({ grade, about, text }) => (
            <tr key={about + text}>
              <td>
                <State grade={grades[grade]}>{texts.grades[grade]}</State>
              </td>
              <th scope="row">{texts.abouts[about] ?? about}</th>
              <td className="whitespace-pre-wrap">{text}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
