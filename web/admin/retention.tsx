import { useState } from "react";
import type { RetentionView } from "../../src/protocol/people/retention.ts";
import { adminWords } from "./admin-words.ts";
import { retention } from "./admin-client.ts";
import { figure, time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Problem } from "../parts/problem.tsx";
import { Act, useAct } from "../parts/action-button.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { confirmAction } from "../parts/confirm.tsx";

const texts = adminWords.retention;

/** How long things are kept, and what would go by it. */
export function Retention() {
  const loaded = useLoaded("retention", retention.list);
  const [told, setTold] = useState<string>();
  return (
    <>
      <p className="text-muted">{texts.explain}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Act
          onAct={async () => {
            const going = await retention.preview();
            const some = going.filter(({ count }) => count > 0);
            setTold(
              some.length === 0
                ? texts.nothingGoes
                : texts.wouldGo(some.map(({ kind, count }) => `${nameOf(kind)}: ${figure(count)}`).join(", ")),
            );
          }}
        >
          {texts.preview}
        </Act>
        <Act
          isSure={() => confirmAction({ ...texts.removeSure, action: texts.removeNow })}
          onAct={async () => {
            const done = await retention.removeNow();
            setTold(
              done
                .map(
                  ({ kind, removed, error }) =>
                    `${nameOf(kind)}: ${figure(removed)}${error === null ? "" : ` (${error})`}`,
                )
                .join(", ") || texts.nothingGoes,
            );
            loaded.reload();
          }}
        >
          {texts.removeNow}
        </Act>
        <p role="status">{told}</p>
      </div>
      <Waiting of={loaded} />
      {loaded.data && (
        <Table name={texts.title} head={[texts.kind, texts.kept, texts.source, texts.last]}>
          {loaded.data.map((rule) => (
            <Rule key={rule.kind} rule={rule} onChange={loaded.reload} />
          ))}
        </Table>
      )}
    </>
  );
}

/** In the reader's words; of a kind that this page does not know, in the server's. */
function nameOf(kind: string): string {
  return texts.kinds[kind]?.[0] ?? kind;
}

function Rule({ rule, onChange }: { readonly rule: RetentionView; readonly onChange: () => void }) {
  const { kind, what, readOnly, source, lastAt, lastRemoved, lastError } = rule;
  const name = nameOf(kind);
  const [days, setDays] = useState(rule.days?.toString() ?? "");
  const [would, setWould] = useState<string>();
  const isSame = days === (rule.days?.toString() ?? "");
  const set = useAct(async () => {
    await (days === "" ? retention.set(kind, null) : retention.set(kind, Number(days)));
    setWould(undefined);
    onChange();
  });
  return (
    <tr>
      <th scope="row">
        {name}
        <div className="font-normal text-muted">{texts.kinds[kind]?.[1] ?? what}</div>
      </th>
      <td>
        {readOnly ? (
          rule.days === null ? (
            texts.forEver
          ) : (
            texts.days(rule.days)
          )
        ) : (
          <form
            className="flex flex-wrap items-center gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              set.act();
            }}
          >
            <input
              className="field w-28"
              type="number"
              min={1}
              max={36_500}
              aria-label={texts.daysOf(name)}
              placeholder={texts.forEver}
              value={days}
              onChange={(event) => setDays(event.target.value)}
            />
            {!isSame && (
              <>
                {days !== "" && (
                  <Act
                    name={`${texts.preview}: ${name}`}
                    onAct={async () => {
                      const [first] = await retention.preview({ kind, days: Number(days) });
                      setWould(texts.wouldGo(figure(first?.count ?? 0)));
                    }}
                  >
                    {texts.preview}
                  </Act>
                )}
                <button
                  type="submit"
                  className="button-main"
                  disabled={set.isBusy}
                  aria-label={`${texts.set}: ${name}`}
                >
                  {texts.set}
                </button>
              </>
            )}
            {would !== undefined && <span role="status">{would}</span>}
            <Problem text={set.problem} />
          </form>
        )}
      </td>
      <td>
        {source === "admin" || source === "default" ? texts.sources[source] : source}
        {readOnly && <div className="text-muted">{texts.readOnly}</div>}
        {source === "admin" && (
          <Act
            name={`${texts.reset}: ${name}`}
            onAct={async () => {
              await retention.reset(kind);
              setDays(rule.default?.toString() ?? "");
              onChange();
            }}
          >
            {texts.reset}
          </Act>
        )}
      </td>
      <td>
        {lastAt === null ? "–" : texts.removed(time(lastAt), figure(lastRemoved ?? 0))}
        {lastError !== null && <div className="text-bad">{lastError}</div>}
      </td>
    </tr>
  );
}
