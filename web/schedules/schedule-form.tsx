import { type ReactNode, useState } from "react";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { ScheduleView } from "../../src/protocol/threads/schedule-shapes.ts";
import { type MissedPolicy, missedPolicies } from "../../src/protocol/threads/schedules.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { client } from "../page/server.ts";
import { words } from "../words/words.ts";
import {
  cronOf,
  fieldsOf,
  type Recurrence,
  type RecurrenceKind,
  recurrenceKinds,
  recurrenceOf,
  spans,
} from "./recurrence.ts";
import { schedulesWords as texts } from "./schedules-words.ts";
import { dueText, isTimeZone, ownTimeZone, spanText, weekdayName } from "./describe-times.ts";

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
  const title = schedule ? texts.change : texts.add;
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
        submit={texts.save}
        onSubmit={async () => {
          const input = { agent, prompt: prompt.trim(), cron: cron ?? rhythm.cron, timeZone, missed };
          await (schedule ? client.schedules.update(schedule.id, input) : client.schedules.create(input));
          onKept();
        }}
        beside={
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
        }
      >
        <Field label={texts.what} isWide>
          <textarea
            dir="auto"
            className="field w-full text-ink"
            rows={3}
            value={prompt}
            placeholder={texts.whatHint}
            required
            autoFocus
            onChange={(event) => setPrompt(event.target.value)}
          />
        </Field>
        <ChoiceField
          label={words.agent}
          value={agent}
          onChange={setAgent}
          options={agents.map(({ id }): [string, string] => [id, `@${id}`])}
        />
        <When rhythm={rhythm} onChange={setRhythm} />
        <TextField label={texts.timeZone} value={timeZone} onChange={setTimeZone} choices={zones} isNeeded />
        <ChoiceField
          label={texts.missed}
          value={missed}
          onChange={(value) => setMissed(value as MissedPolicy)}
          options={missedPolicies.map((each): [string, string] => [each, texts.missedPolicies[each]])}
        />
        <div className="basis-full">
          {cron === undefined ? (
            rhythm.kind === "cron" && <Times problem={texts.notCron(fieldsOf(rhythm.cron).length)} />
          ) : isTimeZone(timeZone) ? (
            <NextTimes cron={cron} timeZone={timeZone} />
          ) : (
            <Times problem={texts.noTimeZone} />
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
        label={texts.rhythm}
        value={kind}
        // What was chosen goes on as an expression, for who wants it otherwise.
        onChange={(value) => change({ kind: value as RecurrenceKind, cron: cronOf(rhythm) ?? cron })}
        options={recurrenceKinds.map((each): [string, string] => [each, texts.rhythms[each]])}
      />
      {kind === "week" && (
        <ChoiceField
          label={texts.weekday}
          value={weekday}
          onChange={(value) => change({ weekday: value })}
          options={[...numbers(1, 6), "0"].map((each): [string, string] => [each, weekdayName(each)])}
        />
      )}
      {kind === "month" && (
        <ChoiceField
          label={texts.dayOfMonth}
          value={day}
          onChange={(value) => change({ day: value })}
          options={numbers(1, 31).map((each): [string, string] => [each, each])}
        />
      )}
      {kind === "every" && (
        <ChoiceField
          label={texts.every}
          value={every}
          onChange={(value) => change({ every: value })}
          options={spans.map((each): [string, string] => [each, spanText(each)])}
        />
      )}
      {kind === "cron" && (
        <TextField label={texts.cron} value={cron} onChange={(value) => change({ cron: value })} isNeeded />
      )}
      {kind !== "every" && kind !== "cron" && (
        <Field label={texts.at}>
          <input
            className="field min-h-8 text-ink"
            type="time"
            value={at}
            required
            onChange={(event) => change({ at: event.target.value })}
          />
        </Field>
      )}
    </>
  );
}

function NextTimes({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
  const { data, problem } = useLoaded(`${cron} ${timeZone}`, (signal) =>
    client.schedules.times({ cron, timeZone }, signal),
  );
  return <Times problem={problem}>{data && `${texts.next} ${data.next.slice(0, 3).map(dueText).join(" · ")}`}</Times>;
}

/** When it would run, or why that can't be said. */
function Times({ problem, children }: { readonly problem: string | undefined; readonly children?: ReactNode }) {
  return (
    <p role="status" className={`min-h-6 text-sm ${problem === undefined ? "text-muted" : "text-warn"}`}>
      {problem ?? children}
    </p>
  );
}
