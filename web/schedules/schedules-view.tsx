import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { ScheduleView } from "../../src/protocol/threads/schedule-shapes.ts";
import { useAnswer } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Note } from "../parts/note.tsx";
import { Act } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { changeQuery, useQuery } from "../page/path.ts";
import { client } from "../page/server.ts";
import { ScheduleForm } from "./schedule-form.tsx";
import "./schedules.css";
import { dueText, ownTimeZone, whenText } from "./describe-times.ts";

/** One's own schedules: what agents do at set times. */
export function SchedulesView() {
  const loaded = useAnswer(["schedules"], client.schedules.list);
  const agents = useAnswer(["agents"], client.agents);
  const query = useQuery();
  const isNew = query.has("new");
  const opened = loaded.data?.find(({ id }) => id === query.get("edit"));
  const close = () => changeQuery({ new: undefined, edit: undefined });
  const form = {
    agents: agents.data ?? [],
    onClose: close,
    onKept() {
      close();
      loaded.reload();
    },
  };
  return (
    <div className="schedules-view">
      <div className="schedules-column">
        <header className="flex flex-wrap items-center gap-3">
          <h1 className="grow text-lg font-semibold">{t`Schedules`}</h1>
          {!isNew && (
            <button type="button" className="button-main" onClick={() => changeQuery({ new: "1", edit: undefined })}>
              {t`New schedule`}
            </button>
          )}
        </header>
        <p className="text-sm text-muted">{t`An agent does something for you at set times, in a conversation of its own.`}</p>
        {(isNew || opened) && !agents.data && <Waiting of={agents} />}
        {isNew && form.agents.length > 0 && <ScheduleForm {...form} />}
        <Waiting of={loaded} />
        {loaded.data?.length === 0 && !isNew && (
          <p className="py-6 text-muted">{t`No schedules yet. Let an agent start your day: what is due, what is new, what went wrong overnight.`}</p>
        )}
        <ul>
          {loaded.data?.map((schedule) =>
            schedule.id === opened?.id && form.agents.length > 0 ? (
              <li key={schedule.id}>
                <ScheduleForm {...form} schedule={schedule} />
              </li>
            ) : (
              <Schedule key={schedule.id} schedule={schedule} onChange={loaded.reload} />
            ),
          )}
        </ul>
      </div>
    </div>
  );
}

function Schedule({ schedule, onChange }: { readonly schedule: ScheduleView; readonly onChange: () => void }) {
  const { id, prompt, agent, cron, timeZone, enabled, next, lastError, threadId } = schedule;
  const [isBegun, setBegun] = useState(false);
  const nameOf = (what: string) => `${what}: ${prompt.slice(0, 80)}`;
  return (
    <li className="schedule">
      <p className="line-clamp-3 whitespace-pre-wrap">{prompt}</p>
      <p className="text-sm text-muted">
        @{agent}, {whenText(cron)} {timeZone !== ownTimeZone && t`(${{ zone: timeZone }})`}
      </p>
      <p className="text-sm">
        {enabled && next !== null ? (
          <State grade="ok">{t`next: ${{ when: dueText(next, timeZone) }}`}</State>
        ) : (
          <State grade="quiet">{t`paused`}</State>
        )}
      </p>
      {lastError !== null && (
        <div className="text-sm">
          <Note>{t`The last run didn't start: ${{ why: lastError }}`}</Note>
        </div>
      )}
      <div className="schedule-actions">
        <Act
          name={nameOf(t`Run now`)}
          onAct={async () => {
            await client.schedules.runNow(id);
            setBegun(true);
            onChange();
          }}
        >
          {t`Run now`}
        </Act>
        <Act
          name={nameOf(enabled ? t`Pause` : t`Resume`)}
          onAct={() => client.schedules.update(id, { enabled: !enabled }).then(onChange)}
        >
          {enabled ? t`Pause` : t`Resume`}
        </Act>
        <button
          type="button"
          className="button"
          aria-label={nameOf(t`Edit`)}
          onClick={() => changeQuery({ edit: id, new: undefined })}
        >
          {t`Edit`}
        </button>
        <Act
          name={nameOf(t`Delete`)}
          isSure={() =>
            confirmAction({ title: t`Delete this schedule?`, text: t`Its conversation is kept.`, action: t`Delete` })
          }
          onAct={() => client.schedules.remove(id).then(onChange)}
        >
          {t`Delete`}
        </Act>
        <PageLink to={`/chat/${threadId}`} look="button text-accent">
          {t`Conversation`}
        </PageLink>
        <span role="status" className="text-sm text-muted">
          {isBegun && t`Started.`}
        </span>
      </div>
    </li>
  );
}
