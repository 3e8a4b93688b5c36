import { ExternalLink } from "lucide-react";
import { t } from "@lingui/core/macro";
import type { PlannedWrite } from "../../src/protocol/agents/tools.ts";
import { State } from "../parts/state.tsx";
import { outlineOf, argumentText, verbOf } from "./plan.ts";
import type { RunState, WriteLine } from "./run-fold.ts";
import { useEffect, useState } from "react";
import { verbNames, kindNames } from "./taiga-names.ts";

const stateNames = {
  open: t`pending`,
  running: t`in progress`,
  done: t`created`,
  failed: t`failed`,
  unknown: t`outcome unknown`,
  skipped: t`skipped`,
};

const grades = { open: "quiet", running: "quiet", done: "ok", failed: "bad", unknown: "warn" } as const;

/** What was approved, with how far each of it has come, and where it is to be seen. */
export function WriteList({ run, writes }: { readonly run: RunState; readonly writes: readonly PlannedWrite[] }) {
  const { stories, others } = outlineOf(writes);
  const done = writes.filter(({ id }) => run.lines[id]?.state === "done").length;
  const line = (write: PlannedWrite) => (
    <Line write={write} line={run.lines[write.id]} isOver={run.end !== undefined} />
  );
  return (
    <section className="grid gap-2" aria-labelledby="written">
      <h2 id="written" className="font-semibold">
        {!run.end
          ? t`Writing to Taiga: ${done} of ${{ all: writes.length }}`
          : done === writes.length
            ? t`Created in Taiga: ${{ all: done }}`
            : t`Created in Taiga: ${done} of ${{ all: writes.length }}`}
      </h2>
      <div className="meter" aria-hidden>
        <span style={{ width: `${(100 * done) / writes.length}%` }} />
      </div>
      <ul className="taiga-outline">
        {stories.map(({ write, tasks }) => (
          <li key={write.id}>
            {line(write)}
            {tasks.length > 0 && (
              <ul className="taiga-tasks">
                {tasks.map((task) => (
                  <li key={task.id}>{line(task)}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
        {others.map((write) => (
          <li key={write.id}>{line(write)}</li>
        ))}
      </ul>
    </section>
  );
}

type WriteLineProps = {
  readonly write: PlannedWrite;
  readonly line: WriteLine | undefined;
  /** Nothing more is done. */
  readonly isOver: boolean;
};

function Line({ write, line, isOver }: WriteLineProps) {
  const state = line?.state ?? "open";
  const { verb, kind } = verbOf(write);
  const subject = argumentText(write, "subject") || `${verbNames[verb]}: ${kindNames[kind]}`;
  return (
    <div className="taiga-line">
      <span className="min-w-0 grow">
        {line?.made ? (
          <a
            href={line.made.url}
            target="_blank"
            rel="noreferrer"
            className="text-accent underline"
            aria-label={t`${{ subject: `#${line.made.ref} ${line.made.subject}` }} (opens Taiga)`}
          >
            #{line.made.ref} {line.made.subject} <ExternalLink size={14} aria-hidden className="inline" />
          </a>
        ) : (
          subject
        )}
        {line?.reason !== undefined && <span className="block text-sm text-bad">{line.reason}</span>}
      </span>
      <span className="text-sm">
        <State grade={grades[state]}>
          {state === "open" && isOver ? t`skipped` : stateNames[state]}
          {state === "running" && <Seconds since={line?.startedAt} />}
        </State>
      </span>
    </div>
  );
}

/** What takes its time, as where Taiga asks to wait, shows that it goes on. */
export function Seconds({ since }: { readonly since: string | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === undefined ? 0 : Math.floor((now - Date.parse(since)) / 1000);
  return seconds < 2 ? null : <span className="text-muted"> {t`${seconds} s`}</span>;
}
