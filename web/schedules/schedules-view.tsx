import { useState } from "react";
import type { ScheduleView } from "../../src/protocol/threads/schedule-shapes.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { usePolling } from "../parts/use-polling.ts";
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
import { schedulesWords as texts } from "./schedules-words.ts";
import { dueText, ownTimeZone, whenText } from "./describe-times.ts";

/** Between two looks, while somebody looks: when it is next changes by itself. */
const lookMs = 30_000;

/** One's own schedules: what agents do at set times. */
export function SchedulesView() {
  const loaded = useLoaded("schedules", client.schedules.list);
  const agents = useLoaded("agents", client.agents);
  const query = useQuery();
  const isNew = query.has("new");
  const opened = loaded.data?.find(({ id }) => id === query.get("edit"));
  usePolling(true, loaded.reload, lookMs);
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
          <h1 className="grow text-lg font-semibold">{texts.title}</h1>
          {!isNew && (
            <button type="button" className="button-main" onClick={() => changeQuery({ new: "1", edit: undefined })}>
              {texts.add}
            </button>
          )}
        </header>
        <p className="text-sm text-muted">{texts.explain}</p>
        {(isNew || opened) && !agents.data && <Waiting of={agents} />}
        {isNew && form.agents.length > 0 && <ScheduleForm {...form} />}
        <Waiting of={loaded} />
        {loaded.data?.length === 0 && !isNew && <p className="py-6 text-muted">{texts.empty}</p>}
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
        @{agent}, {whenText(cron)} {timeZone !== ownTimeZone && texts.inZone(timeZone)}
      </p>
      <p className="text-sm">
        {enabled && next !== null ? (
          <State grade="ok">{texts.nextAt(dueText(next))}</State>
        ) : (
          <State grade="quiet">{texts.paused}</State>
        )}
      </p>
      {lastError !== null && (
        <div className="text-sm">
          <Note>{texts.failed(lastError)}</Note>
        </div>
      )}
      <div className="schedule-actions">
        <Act
          name={nameOf(texts.run)}
          onAct={async () => {
            await client.schedules.runNow(id);
            setBegun(true);
            onChange();
          }}
        >
          {texts.run}
        </Act>
        <Act
          name={nameOf(enabled ? texts.pause : texts.resume)}
          onAct={() => client.schedules.update(id, { enabled: !enabled }).then(onChange)}
        >
          {enabled ? texts.pause : texts.resume}
        </Act>
        <button
          type="button"
          className="button"
          aria-label={nameOf(texts.edit)}
          onClick={() => changeQuery({ edit: id, new: undefined })}
        >
          {texts.edit}
        </button>
        <Act
          name={nameOf(texts.remove)}
          isSure={() => confirmAction({ ...texts.removeSure, action: texts.remove })}
          onAct={() => client.schedules.remove(id).then(onChange)}
        >
          {texts.remove}
        </Act>
        <PageLink to={`/chat/${threadId}`} look="button text-accent">
          {texts.conversation}
        </PageLink>
        <span role="status" className="text-sm text-muted">
          {isBegun && texts.running}
        </span>
      </div>
    </li>
  );
}
