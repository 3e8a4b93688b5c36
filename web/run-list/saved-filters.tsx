import { useState } from "react";
import { Ellipsis, Pencil, Trash2 } from "lucide-react";
import { t } from "@lingui/core/macro";
import type { SavedFilter } from "../../src/protocol/people/preferences.ts";
import { refresh, refreshAfter, useAnswer } from "../parts/answers.ts";
import { Problem } from "../parts/problem.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { Menu } from "../parts/menus/menu.tsx";
import { useAct } from "../parts/action-button.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { useChanges } from "../stream/changes.ts";
import { lists } from "../threads/list-client.ts";

/** What of the address is a filter of the list. */
const parts = ["status", "agent", "user", "thread", "delegated", "all", "sort"];
const key = ["preferences"];
/** As the server keeps at most. */
const most = 50;

/** The filters that hold now, in one order. */
function filterOf(query: URLSearchParams): string {
  const found = parts.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new URLSearchParams(found).toString();
}

/** Once, when it is there. */
function focusField(frame: HTMLElement | null): void {
  frame?.querySelector("input")?.focus();
}

function choose(filter: string): void {
  const query = new URLSearchParams(filter);
  changeQuery(Object.fromEntries(parts.map((name) => [name, query.get(name) ?? undefined])));
}

/** Filters that somebody has given a name: chosen by one click, kept on the server for each person. */
export function SavedFilters({ list }: { readonly list: SavedFilter["list"] }) {
  const now = filterOf(useQuery());
  const loaded = useAnswer(key, (signal) => lists.preferences(signal));
  useChanges("lists", () => void refreshAfter(key));
  /** The name of the filter that is renamed; empty: a new one. */
  const [named, setNamed] = useState<string>();
  const [typed, setTyped] = useState("");
  const all = loaded.data?.filters ?? [];
  const mine = all.filter((filter) => filter.list === list);
  const keep = async (filters: readonly SavedFilter[]) => {
    await lists.changePreferences({ filters: filters.length > 0 ? filters : null });
    setNamed(undefined);
    await refresh(key);
  };
  const removal = useAct((name: string) => keep(all.filter((filter) => filter.list !== list || filter.name !== name)));
  const save = () => {
    const name = typed.trim();
    // Another tab may have deleted it meanwhile.
    const query = mine.find((filter) => filter.name === named)?.query ?? now;
    const others = all.filter((filter) => filter.list !== list || (filter.name !== name && filter.name !== named));
    return keep([...others, { list, name, query }]);
  };
  const isNew = now !== "" && !mine.some((filter) => filter.query === now) && all.length < most;
  if (!loaded.data || (mine.length === 0 && !isNew)) return null;
  return (
    <section aria-label={t`Saved filters`} className="flex flex-wrap items-center gap-2">
      {mine.map(({ name, query }) => (
        <span key={name} className="filter-chip">
          <button
            type="button"
            className="filter-choice"
            aria-pressed={query === now}
            onClick={() => choose(query === now ? "" : query)}
          >
            <bdi>{name}</bdi>
          </button>
          <Menu
            name={t`Saved filter ${name}`}
            icon={Ellipsis}
            entries={[
              {
                name: t`Rename`,
                icon: Pencil,
                onChoose: () => {
                  setNamed(name);
                  setTyped(name);
                },
              },
              { name: t`Delete`, icon: Trash2, isGrave: true, onChoose: () => removal.act(name) },
            ]}
          />
        </span>
      ))}
      {named !== undefined ? (
        <Form
          name={named === "" ? t`Save filter` : t`Rename`}
          submit={t`Save`}
          onSubmit={save}
          beside={
            <button type="button" className="button" onClick={() => setNamed(undefined)}>
              {t`Cancel`}
            </button>
          }
        >
          <div ref={focusField}>
            <TextField label={t`Name`} value={typed} onChange={(text) => setTyped(text.slice(0, 60))} isNeeded />
          </div>
        </Form>
      ) : (
        isNew && (
          <button
            type="button"
            className="button"
            onClick={() => {
              setTyped("");
              setNamed("");
            }}
          >
            {t`Save filter`}
          </button>
        )
      )}
      <Problem text={removal.problem} />
    </section>
  );
}
