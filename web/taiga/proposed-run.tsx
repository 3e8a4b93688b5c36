import { ArrowLeft, Square } from "lucide-react";
import { t } from "@lingui/core/macro";
import { whyFailed } from "../conversation/why-failed.ts";
import type { ItemOf } from "../../src/protocol/threads/items.ts";
import { Question } from "../turn/question.tsx";
import { goTo } from "../page/path.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { client } from "../page/server.ts";
import { type MinutesDraft, keepDraft } from "./draft.ts";
import { PlanEditor } from "./plan-editor.tsx";
import { isAboutPlan, type RunState } from "./run-fold.ts";
import { useRun } from "./use-run.ts";
import { Seconds, WriteList } from "./write-list.tsx";
import { statusNames } from "./taiga-names.ts";

const readNames: Readonly<Record<string, string>> = {
  taiga_get_project: t`Read the project`,
  taiga_list_milestones: t`Read the sprints`,
  taiga_get_milestone_by_name: t`Found the sprint`,
  taiga_list_user_stories: t`Read the existing stories`,
};

/** One proposal: how it is planned, the plan to be approved, how it is written, what was made. */
export function ProposedRun({ id }: { readonly id: string }) {
  const { run, about, problem } = useRun(id);
  const question = run.questions.find(isAboutPlan);
  const isPlanning = run.chosen === undefined && !question && !run.end;
  return (
    <>
      <header className="grid gap-1">
        <PageLink to="/taiga" look="taiga-back">
          <ArrowLeft size={16} aria-hidden /> {t`New proposal`}
        </PageLink>
        <h1 className="text-lg font-semibold">
          {about ? [about.projectName, about.sprint].filter(Boolean).join(": ") : t`Taiga`}
        </h1>
      </header>
      <p role="status" className="sr-only">
        {statusOf(run, question)}
      </p>
      {isPlanning && <Planning run={run} id={id} />}
      {run.questions
        .filter((each) => !isAboutPlan(each))
        .map((each) => (
          <Question key={each.id} question={blockOf(each, id)} onDecide={(input) => decide(each.id, id, input)} />
        ))}
      {question && (
        <PlanEditor
          key={question.id}
          run={id}
          choices={question.body.choices ?? []}
          writes={run.planned}
          onDecide={(input) => decide(question.id, id, input)}
        />
      )}
      {run.chosen !== undefined && run.chosen.length > 0 && <WriteList run={run} writes={run.chosen} />}
      {run.chosen !== undefined && run.chosen.length > 0 && !run.end && <Stop id={id} />}
      {run.end && <End run={run} about={about} />}
      <Problem text={problem} />
    </>
  );
}

function decide(question: string, run: string, input: Parameters<typeof client.decide>[1]): Promise<void> {
  return client.decide({ id: question, runId: run }, input).then(() => undefined);
}

function blockOf({ id, body }: ItemOf<"question">, run: string) {
  return { kind: "question" as const, key: id, id, run, body };
}

function Planning({ run, id }: { readonly run: RunState; readonly id: string }) {
  return (
    <section className="taiga-card" aria-busy>
      <p>
        {t`Reading the minutes and planning`} <Seconds since={run.startedAt} />
      </p>
      <ul className="grid gap-1 text-sm text-muted">
        {timesOf(run.reads).map(({ tool, isDone, times }) => (
          <li key={tool}>
            <span aria-hidden>{isDone ? "✓" : "…"}</span> {Object.hasOwn(readNames, tool) ? readNames[tool] : tool}
            {times > 1 && <span> ({times}×)</span>}
          </li>
        ))}
        {run.planned.length > 0 && (
          <li>
            <span aria-hidden>+</span> {t`${{ count: run.planned.length }} planned so far`}
          </li>
        )}
      </ul>
      {run.text !== "" && <p className="text-sm whitespace-pre-wrap">{run.text}</p>}
      {run.questions.length === 0 && <Stop id={id} />}
    </section>
  );
}

/** A line for each way to read, however often it was gone. */
function timesOf(reads: RunState["reads"]) {
  return [...Map.groupBy(reads, ({ tool }) => tool)].map(([tool, all]) => ({
    tool,
    times: all.length,
    isDone: all.every(({ isDone }) => isDone),
  }));
}

function Stop({ id }: { readonly id: string }) {
  const { isBusy, problem, act } = useAct(() => client.cancel(id));
  return (
    <div>
      <button type="button" className="button" disabled={isBusy} onClick={() => act()}>
        <Square size={16} aria-hidden /> {t`Stop`}
      </button>
      <Problem text={problem} />
    </div>
  );
}

/** How it ended, and what can be done next. */
function End({ run, about }: { readonly run: RunState; readonly about: MinutesDraft | undefined }) {
  const { end, chosen = [], lines, text } = run;
  const made = chosen.flatMap(({ id }) => lines[id]?.made ?? []);
  const isPart = chosen.length > 0 && chosen.some(({ id }) => lines[id]?.state !== "done");
  const isWhole = end?.status === "done" && chosen.length > 0 && !isPart;
  const again = () => {
    if (!about) return;
    const { project, sprint, minutes, instructions } = about;
    const list = made.map(({ ref, subject }) => `#${ref} ${subject}`).join("\n");
    const more = made.length > 0 ? `${t`These already exist; don't create them again:`}\n${list}` : "";
    keepDraft({ project, sprint, minutes, instructions: [instructions, more].filter(Boolean).join("\n") });
    goTo("/taiga");
  };
  return (
    <section className="grid gap-2" aria-label={t`Result`}>
      {end?.status === "failed" && (
        <Problem text={t`Stopped: ${{ why: whyFailed(end.error?.message ?? "", end.error?.code) }}`} />
      )}
      {end?.status === "cancelled" && <p>{t`Stopped.`}</p>}
      {made.length === 0 && <p>{t`Nothing was created.`}</p>}
      {/* What it says of planned writes is in English, and stands in the lines above. */}
      {run.planned.length === 0 && text !== "" && <p className="whitespace-pre-wrap">{text}</p>}
      {run.warnings.length > 0 && (
        <div className="text-sm">
          <h2 className="font-semibold">{t`Warnings`}</h2>
          <ul>
            {run.warnings.map((warning) => (
              <li key={warning} className="text-warn">
                {warning}
              </li>
            ))}
          </ul>
        </div>
      )}
      {!isWhole && about && (
        <div>
          <button type="button" className="button-main" onClick={again}>
            {isPart && made.length > 0 ? t`Propose the rest` : t`Propose again`}
          </button>
        </div>
      )}
    </section>
  );
}

/** For who listens instead of looking. */
function statusOf({ end, chosen, lines }: RunState, question: object | undefined): string {
  if (end) return statusNames[end.status];
  if (question) return t`needs your input`;
  if (!chosen) return t`Reading the minutes and planning`;
  return t`Writing to Taiga: ${{ done: chosen.filter(({ id }) => lines[id]?.state === "done").length }} of ${{ all: chosen.length }}`;
}
