import { type ReactNode, useState } from "react";
import { t } from "@lingui/core/macro";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { ScheduleView } from "../../src/protocol/threads/schedule-shapes.ts";
import { type MissedPolicy, missedPolicies } from "../../src/protocol/threads/schedules.ts";
import { useAnswer } from "../parts/answers.ts";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { client } from "../page/server.ts";
import {
  cronOf,
  fieldsOf,
  type Recurrence,
  type RecurrenceKind,
  recurrenceKinds,
  recurrenceOf,
  spans,
} from "./recurrence.ts";
import { dueText, isTimeZone, ownTimeZone, spanText, weekdayName } from "./describe-times.ts";

const missedNames = { skip: t`Skip`, once: t`Run once when back` };

const rhythmNames = {
  day: t`every day`,
  weekdays: t`Monday to Friday`,
  week: t`once a week`,
  month: t`once a month`,
  every: t`at an interval`,
  cron: t`cron expression`,
};

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];

type ScheduleFormProps = {
  /** Absent: a new one. */
  readonly schedule?: ScheduleView;
  readonly agents: readonly AgentView[];
  readonly onKept: () => void;
  readonly onClose: () => void;
};

const usualOf = (agents: readonly AgentView[]) =>
  (agents.find(({ isDefault }) => isDefault) ?? agents.find(({ id }) => id === "assistant") ?? agents[0]!).id;

/** Who does what, and when; the next times are told before it is kept. */
export function ScheduleForm({ schedule, agents, onKept, onClose }: ScheduleFormProps) {
  const title = schedule ? t`Edit schedule` : t`New schedule`;
  const [prompt, setPrompt] = useState(schedule?.prompt ?? "");
  const [agent, setAgent] = useState(schedule?.agent ?? usualOf(agents));
  const [rhythm, setRhythm] = useState(() => recurrenceOf(schedule?.cron));
  const [timeZone, setTimeZone] = useState(schedule?.timeZone ?? ownTimeZone);
  const [missed, setMissed] = useState<MissedPolicy>(schedule?.missed ?? "skip");
  const cron = cronOf(rhythm);
  return (
    <section className="schedule-form" aria-label={title}>
      <h2 className="font-semibold">{title}</h2>
      <Form
        name={title}
        submit={t`Save`}
        asksBeforeLeaving
        onSubmit={async () => {
          const input = { agent, prompt: prompt.trim(), cron: cron ?? rhythm.cron, timeZone, missed };
          await (schedule ? client.schedules.update(schedule.id, input) : client.schedules.create(input));
          onKept();
        }}
        beside={
          <button type="button" className="button" onClick={onClose}>
            {t`Cancel`}
          </button>
        }
      >
        <Field label={t`What should the agent do?`} name="prompt" isWide>
          {(control) => (
            <textarea
              {...control}
              dir="auto"
              className="field w-full text-ink"
              rows={3}
              value={prompt}
              placeholder={t`Tell me what is due today.`}
              required
              autoFocus
              onChange={(event) => setPrompt(event.target.value)}
            />
          )}
        </Field>
        <ChoiceField
          label={t`Agent`}
          name="agent"
          value={agent}
          onChange={setAgent}
          options={agents.map(({ id }): [string, string] => [id, `@${id}`])}
        />
        <When rhythm={rhythm} onChange={setRhythm} />
        <TextField
          label={t`Time zone`}
          name="timeZone"
          value={timeZone}
          onChange={setTimeZone}
          choices={zones}
          isNeeded
        />
        <ChoiceField
          label={t`If the server was down`}
          value={missed}
          onChange={(value) => setMissed(value as MissedPolicy)}
          options={missedPolicies.map((each): [string, string] => [each, missedNames[each]])}
        />
        <div className="basis-full">
          {cron === undefined ? (
            rhythm.kind === "cron" && (
              <Times
                problem={t`A cron expression has five fields (minute, hour, day, month, weekday); this one has ${{ count: fieldsOf(rhythm.cron).length }}.`}
              />
            )
          ) : isTimeZone(timeZone) ? (
            <NextTimes cron={cron} timeZone={timeZone} />
          ) : (
            <Times problem={t`Unknown time zone. Choose one from the list.`} />
          )}
        </div>
      </Form>
    </section>
  );
}

function When({ rhythm, onChange }: { readonly rhythm: Recurrence; readonly onChange: (rhythm: Recurrence) => void }) {
  const { kind, at, weekday, day, every, cron } = rhythm;
  const change = (part: Partial<Recurrence>) => onChange({ ...rhythm, ...part });
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));
  return (
    <>
      <ChoiceField
        label={t`Repeat`}
        value={kind}
        // What was chosen goes on as an expression, for who wants it otherwise.
        onChange={(value) => change({ kind: value as RecurrenceKind, cron: cronOf(rhythm) ?? cron })}
        options={recurrenceKinds.map((each): [string, string] => [each, rhythmNames[each]])}
      />
      {kind === "week" && (
        <ChoiceField
          label={t`On`}
          value={weekday}
          onChange={(value) => change({ weekday: value })}
          options={[...numbers(1, 6), "0"].map((each): [string, string] => [each, weekdayName(each)])}
        />
      )}
      {kind === "month" && (
        <ChoiceField
          label={t`On day`}
          value={day}
          onChange={(value) => change({ day: value })}
          options={numbers(1, 31).map((each): [string, string] => [each, each])}
        />
      )}
      {kind === "every" && (
        <ChoiceField
          label={t`Every`}
          value={every}
          onChange={(value) => change({ every: value })}
          options={spans.map((each): [string, string] => [each, spanText(each)])}
        />
      )}
      {kind === "cron" && (
        <TextField
          label={t`Minute, hour, day, month, weekday`}
          name="cron"
          value={cron}
          onChange={(value) => change({ cron: value })}
          isNeeded
        />
      )}
      {kind !== "every" && kind !== "cron" && (
        <Field label={t`At`}>
          {(control) => (
            <input
              {...control}
              className="field min-h-8 text-ink"
              type="time"
              value={at}
              required
              onChange={(event) => change({ at: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

function NextTimes({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
  const { data, problem } = useAnswer(["times", cron, timeZone], (signal) =>
    client.schedules.times({ cron, timeZone }, signal),
  );
  return (
    <Times problem={problem}>
      {data &&
        `${t`Next times:`} ${data.next
          .slice(0, 3)
          .map((at) => dueText(at))
          .join(" · ")}`}
    </Times>
  );
}

/** When it would run, or why that can't be said. */
function Times({ problem, children }: { readonly problem: string | undefined; readonly children?: ReactNode }) {
  return (
    <p role="status" className={`min-h-6 text-sm ${problem === undefined ? "text-muted" : "text-warn"}`}>
      {problem ?? children}
    </p>
  );
}
