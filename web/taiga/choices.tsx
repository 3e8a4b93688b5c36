import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { ProjectEntry, SprintEntry } from "../../src/protocol/threads/taiga.ts";
import { locale } from "../browser/language.ts";
import { type AnswerState, useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import type { MinutesDraft } from "./draft.ts";
import { taiga, useLogin, withLogin } from "./login.ts";

const missingTexts = {
  add_us: t`You don't have permission to add user stories to this project.`,
  add_task: t`You don't have permission to add tasks to this project.`,
};

/** Of fewer, a list shows all at a glance. */
const searchedFrom = 10;

type ChoicesProps = {
  readonly draft: MinutesDraft;
  readonly onChange: (change: Partial<MinutesDraft>) => void;
};

/** Which project, and which sprint of it: what the person may see there. */
export function Choices({ draft, onChange }: ChoicesProps) {
  const { login } = useLogin();
  const [search, setSearch] = useState({ project: "", sprint: "" });
  const projects = useAnswer(["taiga", login?.token, search.project], (signal) =>
    withLogin((now) => taiga.projects(now, { search: search.project }, signal)),
  );
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Choice
        label={t`Project`}
        search={t`Find a project`}
        text={search.project}
        onSearch={(project) => setSearch({ project, sprint: "" })}
        hint={t`Choose a project`}
        none={t`You have no projects in Taiga.`}
        found={projects}
        value={draft.project}
        options={(projects.data?.data ?? []).map(({ slug, name }: ProjectEntry) => [slug, name])}
        onChoose={(project) => onChange({ project, sprint: "" })}
      />
      <Sprints
        key={draft.project}
        draft={draft}
        onChange={onChange}
        search={search.sprint}
        onSearch={(sprint) => setSearch({ ...search, sprint })}
      />
    </div>
  );
}

type SprintsProps = ChoicesProps & { readonly search: string; readonly onSearch: (text: string) => void };

function Sprints({ draft, onChange, search, onSearch }: SprintsProps) {
  const { login } = useLogin();
  const sprints = useAnswer(["taiga", login?.token, "sprints", draft.project, search], async (signal) =>
    // Before there is a project there is nothing to choose from.
    draft.project === "" ? null : withLogin((now) => taiga.sprints(now, draft.project, { search }, signal)),
  );
  const missing = sprints.data?.missing ?? [];
  return (
    <div>
      <Choice
        label={t`Sprint`}
        search={t`Find a sprint`}
        text={search}
        onSearch={onSearch}
        hint={t`Choose a sprint`}
        none={t`This project has no sprints you can see.`}
        found={sprints}
        value={draft.sprint}
        options={openFirst(sprints.data?.data ?? []).map((sprint) => [sprint.name, describe(sprint)])}
        onChoose={(sprint) => onChange({ sprint })}
      />
      {missing.map((right) => (
        <p key={right} className="mt-1 text-sm text-warn">
          {missingTexts[right as keyof typeof missingTexts]}
        </p>
      ))}
    </div>
  );
}

function openFirst(sprints: readonly SprintEntry[]): readonly SprintEntry[] {
  return [...sprints].sort((one, other) => Number(one.closed) - Number(other.closed));
}

function describe({ name, closed, start, finish }: SprintEntry): string {
  const day = (text: string) =>
    new Date(text).toLocaleDateString(locale, { day: "numeric", month: "short", timeZone: "UTC" });
  const dates = start !== null && finish !== null ? [`${day(start)} – ${day(finish)}`] : [];
  const more = [...dates, ...(closed ? [t`closed`] : [])];
  return more.length > 0 ? `${name} (${more.join(", ")})` : name;
}

type ChoiceProps = {
  readonly label: string;
  readonly search: string;
  readonly text: string;
  readonly onSearch: (text: string) => void;
  readonly hint: string;
  readonly none: string;
  readonly found: AnswerState<{ readonly more: boolean } | null>;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
};

function Choice({ label, search, text, onSearch, hint, none, found, value, options, onChoose }: ChoiceProps) {
  const isSearched = text !== "" || options.length > searchedFrom || (found.data?.more ?? false);
  // What was chosen before stays chosen, also where the search leaves it out.
  const isKnown = value === "" || options.some(([each]) => each === value);
  return (
    <div className="grid content-start gap-1">
      <label className="taiga-field">
        {label}
        <select
          className="field text-ink"
          required
          disabled={found.data === undefined}
          value={value}
          onChange={(event) => onChoose(event.target.value)}
        >
          <option value="">{hint}</option>
          {!isKnown && <option value={value}>{value}</option>}
          {options.map(([each, shown]) => (
            <option key={each} value={each}>
              {shown}
            </option>
          ))}
        </select>
      </label>
      {isSearched && (
        <input
          type="search"
          className="field"
          aria-label={search}
          placeholder={search}
          value={text}
          onChange={(event) => onSearch(event.target.value)}
        />
      )}
      {found.data?.more && <p className="text-xs text-muted">{t`There are more results. Search by name.`}</p>}
      {found.data && options.length === 0 && (
        <p className="text-sm text-warn">{text === "" ? none : t`Nothing found.`}</p>
      )}
      {found.problem !== undefined && <Waiting of={found} />}
    </div>
  );
}
