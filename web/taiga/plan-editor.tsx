import { TextInitial } from "lucide-react";
import { useState } from "react";
import { plural, t } from "@lingui/core/macro";
import type { PlannedWrite } from "../../src/protocol/agents/tools.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { choiceOf, applyEdits, type PlanEdits, noEdits, outlineOf, argumentText, verbOf } from "./plan.ts";
import { kindNames, verbNames } from "./taiga-names.ts";

type PlanEditorProps = {
  readonly run: string;
  /** Of the question: to do it, or nothing. */
  readonly choices: readonly string[];
  readonly writes: readonly PlannedWrite[];
  readonly onDecide: (input: DecisionInput) => Promise<void>;
};

/** The plan, to be changed and approved: exactly what it shows is done. */
export function PlanEditor({ run, choices: [doIt = "", doNothing = ""], writes, onDecide }: PlanEditorProps) {
  const [edits, edit] = useEdits(run);
  const { stories, others } = outlineOf(writes);
  const kept = applyEdits(writes, edits);
  const isKept = (id: string) => kept.some((write) => write.id === id);
  const isEmpty = kept.some(({ arguments: given }) => given["subject"] === "");
  const { isBusy, problem, act } = useAct(async (choice: string) => {
    const chosen = choice === doIt ? choiceOf(writes, edits) : undefined;
    await onDecide({ decision: "answer", text: choice, ...(chosen !== undefined && { arguments: chosen }) });
  });
  const entry = (write: PlannedWrite, { isStory = false, isOff = false } = {}) => (
    <Entry
      write={write}
      isStory={isStory}
      isKept={isKept(write.id)}
      isOff={isOff}
      texts={edits.texts[write.id] ?? {}}
      onKeep={(keep) =>
        edit({
          ...edits,
          leftOut: keep ? edits.leftOut.filter((id) => id !== write.id) : [...edits.leftOut, write.id],
        })
      }
      onText={(texts) =>
        edit({ ...edits, texts: { ...edits.texts, [write.id]: { ...edits.texts[write.id], ...texts } } })
      }
    />
  );
  return (
    <section className="grid gap-3" aria-labelledby="plan">
      <div>
        <h2 id="plan" className="font-semibold">
          {t`Proposal`}: {countOf(writes)}
        </h2>
        <p className="text-sm text-muted">{t`Edit what you like and deselect what you don't want. Nothing has been created yet.`}</p>
      </div>
      <ul className="taiga-outline">
        {stories.map(({ write, tasks }) => (
          <li key={write.id}>
            {entry(write, { isStory: true })}
            {tasks.length > 0 && (
              <ul className="taiga-tasks">
                {tasks.map((task) => (
                  <li key={task.id}>{entry(task, { isOff: !isKept(write.id) })}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <>
          {stories.length > 0 && <h3 className="text-sm font-semibold">{t`Other changes`}</h3>}
          <ul className="taiga-outline">
            {others.map((write) => (
              <li key={write.id}>{entry(write)}</li>
            ))}
          </ul>
        </>
      )}
      <div className="taiga-approve">
        {isEmpty && <Problem text={t`Enter a subject.`} />}
        <Problem text={problem} />
        <button
          type="button"
          className="button-main taiga-main"
          disabled={isBusy || isEmpty || kept.length === 0}
          onClick={() => act(doIt)}
        >
          {kept.length === 0 ? t`Nothing selected` : t`Create ${{ what: countOf(kept) }}`}
        </button>
        <button type="button" className="button" disabled={isBusy} onClick={() => act(doNothing)}>
          {t`Discard`}
        </button>
      </div>
    </section>
  );
}

type PlanEntryProps = {
  readonly write: PlannedWrite;
  readonly isStory: boolean;
  readonly isKept: boolean;
  /** Its story is left out. */
  readonly isOff: boolean;
  readonly texts: { readonly subject?: string; readonly description?: string };
  readonly onKeep: (keep: boolean) => void;
  readonly onText: (texts: PlanEntryProps["texts"]) => void;
};

function Entry({ write, isStory, isKept, isOff, texts, onKeep, onText }: PlanEntryProps) {
  const { verb, kind } = verbOf(write);
  const planned = argumentText(write, "subject");
  const subject = texts.subject ?? planned;
  const description = texts.description ?? argumentText(write, "description");
  const [isDescribed, setDescribed] = useState(description !== "");
  const name = `${kindNames[kind]}: ${planned || `#${String(write.arguments[`${kind}_id`])}`}`;
  const details = detailsOf(write);
  return (
    <div className="taiga-entry" data-out={!isKept || undefined}>
      <label className="task-tick">
        <input
          type="checkbox"
          aria-label={t`Create: ${{ subject: name }}`}
          checked={isKept}
          disabled={isOff}
          onChange={(event) => onKeep(event.target.checked)}
        />
      </label>
      <div className="grid min-w-0 grow gap-1">
        {(verb !== "create" || planned === "") && (
          <p className="text-sm">
            {verbNames[verb]}: {name}
          </p>
        )}
        {planned !== "" && (
          <textarea
            className="taiga-subject field-sizing"
            data-story={isStory || undefined}
            aria-label={name}
            rows={1}
            maxLength={500}
            disabled={!isKept}
            value={subject}
            onKeyDown={(event) => {
              // One line, that wraps where it must.
              if (event.key === "Enter") event.preventDefault();
            }}
            onChange={(event) => onText({ subject: event.target.value.replaceAll("\n", " ") })}
          />
        )}
        {details !== "" && <p className="text-xs text-muted">{details}</p>}
        {planned !== "" && isKept && (isDescribed || description !== "") && (
          <textarea
            className="field field-sizing taiga-description"
            aria-label={t`Description of ${{ subject: planned }}`}
            rows={2}
            maxLength={10_000}
            value={description}
            onChange={(event) => onText({ description: event.target.value })}
          />
        )}
      </div>
      {planned !== "" && isKept && !isDescribed && description === "" && (
        <button
          type="button"
          className="icon-button"
          aria-label={`${t`Add a description`}: ${name}`}
          title={t`Add a description`}
          onClick={() => setDescribed(true)}
        >
          <TextInitial size={16} aria-hidden />
        </button>
      )}
    </div>
  );
}

/** What else it sets, such as who shall do it. */
function detailsOf({ arguments: given }: PlannedWrite): string {
  const hidden = ["subject", "description", "milestone_id", "user_story_id", "task_id"];
  return Object.entries(given)
    .filter(([name, value]) => !hidden.includes(name) && value !== null && value !== "")
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : String(value)}`)
    .join(" · ");
}

function countOf(writes: readonly PlannedWrite[]): string {
  const made = (kind: string) => writes.filter(({ tool }) => tool === `taiga_create_${kind}`).length;
  const stories = made("user_story");
  const tasks = made("task");
  const others = writes.length - stories - tasks;
  return [
    stories > 0 ? plural(stories, { one: "# story", other: "# stories" }) : "",
    tasks > 0 ? plural(tasks, { one: "# task", other: "# tasks" }) : "",
    others > 0 ? plural(others, { one: "# other change", other: "# other changes" }) : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** Kept in this tab over a reload. */
function useEdits(run: string): readonly [PlanEdits, (edits: PlanEdits) => void] {
  const key = `colloquy-taiga-plan-${run}`;
  const [edits, setEdits] = useState<PlanEdits>(() => {
    const kept = sessionStorage.getItem(key);
    return kept === null ? noEdits : (JSON.parse(kept) as PlanEdits);
  });
  return [
    edits,
    (now) => {
      sessionStorage.setItem(key, JSON.stringify(now));
      setEdits(now);
    },
  ];
}
