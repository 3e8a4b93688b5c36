import type { AdminRun, RunAbout, RunDetailsView } from "../../protocol/threads/run-trace.ts";
import type { RunDetails } from "../../run/traced-run.ts";
import { publicQuestion } from "./question-view.ts";
import { publicRun } from "../../protocol/threads/public-views.ts";
import { shownCost } from "./budget-view.ts";

export function publicAdminRun(run: AdminRun): AdminRun {
  const { userId, userName, node, waitUntil, cancelAsked, epoch, takeovers } = run;
  return { ...publicRun(run), userId, userName, node, waitUntil, cancelAsked, epoch, takeovers };
}

export function publicAbout(about: RunAbout | undefined): RunAbout {
  const used = about?.used;
  return {
    text: about?.text ?? null,
    place: about?.place ?? null,
    used: used ? { ...used, cost: shownCost(used.cost) } : null,
  };
}

export function publicDetails(details: RunDetails): RunDetailsView {
  const { run, about, origin, questions, job, budget, models, runs, items, modelCalls, ledger, whole } = details;
  return {
    run: { ...publicAdminRun(run), ...publicAbout(about) },
    origin,
    questions: questions.map(publicQuestion),
    job: job ?? null,
    budget: budget ? { ...budget, cost: { ...budget.cost, used: shownCost(budget.cost.used) } } : null,
    models: models.map(withShownCost),
    runs: runs.map((one) => ({ ...publicRun(one), parentCall: one.parentCall, takes: one.takes })),
    items,
    modelCalls: modelCalls.map(withShownCost),
    ledger,
    whole,
    now: new Date().toISOString(),
  };
}

function withShownCost<Entry extends { readonly cost: number | null }>(entry: Entry): Entry {
  return { ...entry, cost: entry.cost === null ? null : shownCost(entry.cost) };
}
