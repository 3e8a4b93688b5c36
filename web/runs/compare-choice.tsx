import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { ListedRunView, RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import { useMe } from "../page/me.ts";
import { changeQuery } from "../page/path.ts";
import { useAnswer } from "../parts/answers.ts";
import { Dialog } from "../parts/dialog.tsx";
import { moment } from "../parts/format.ts";
import { PageLink } from "../parts/page-link.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { RunState } from "../run-list/run-state.tsx";
import { runTitle } from "../run-list/run-title.ts";
import { adminRuns, runsInside } from "../run-list/runs-client.ts";

/** Of each kind, the newest. */
const most = 10;

type CompareProps = Pick<RunDetailsView, "run" | "origin">;

/** Opens the choice of a run to compare this one with. */
export function CompareButton(props: CompareProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        {`${t`Compare with`} …`}
      </button>
      {isOpen && (
        <Dialog title={t`Compare with`} onClose={() => setOpen(false)}>
          <CompareChoice {...props} />
        </Dialog>
      )}
    </>
  );
}

/** The run that this one replays, earlier runs of its conversation, and of its agent. */
export function CompareChoice({ run, origin }: CompareProps) {
  const me = useMe();
  const isMine = me?.id === run.userId;
  const loaded = useAnswer(["compared", run.id], async (signal) => {
    const [ofThread, ofAgent] = await Promise.all([
      isMine ? runsInside.list({ thread: run.threadId, limit: most + 1 }, signal) : [],
      isMine
        ? runsInside.list({ agent: run.agent, root: "true", limit: most + 1 }, signal)
        : adminRuns.list({ agent: run.agent, user: run.userId, limit: most + 1 }, signal),
    ]);
    return { ofThread, ofAgent };
  });
  if (!loaded.data) return <Waiting of={loaded} />;
  const { ofThread, ofAgent } = loaded.data;
  const others = (runs: readonly ListedRunView[]) => runs.filter(({ id }) => id !== run.id).slice(0, most);
  const inThread = others(ofThread);
  const elsewhere = others(ofAgent).filter(({ id }) => !inThread.some((each) => each.id === id));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {origin && (
        <div>
          <PageLink to={`/runs/${run.id}?with=${origin.run}`}>{t`The run that this one started from`}</PageLink>
        </div>
      )}
      <RunChoices name={t`In this conversation`} runs={inThread} />
      <RunChoices name={t`Other runs of @${{ agent: run.agent }}`} runs={elsewhere} />
      {!origin && inThread.length + elsewhere.length === 0 && (
        <p className="text-muted">{t`There is no other run to compare with.`}</p>
      )}
    </div>
  );
}

type RunChoicesProps = { readonly name: string; readonly runs: readonly ListedRunView[] };

function RunChoices({ name, runs }: RunChoicesProps) {
  if (runs.length === 0) return null;
  return (
    <section aria-label={name}>
      <h3 className="font-semibold">{name}</h3>
      <ul className="grid grid-cols-[minmax(0,1fr)]">
        {runs.map((run) => (
          <li key={run.id}>
            <button type="button" className="run-choice" onClick={() => changeQuery({ with: run.id, row: undefined })}>
              <span className="truncate">
                <bdi>{runTitle(run)}</bdi>
              </span>
              <span className="text-muted">
                {moment(run.createdAt)} · <RunState {...run} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
