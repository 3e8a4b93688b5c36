import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { PlanBody } from "../../src/protocol/threads/items.ts";

const stateNames = { open: t`pending`, running: t`in progress`, done: t`done`, failed: t`failed`, skipped: t`skipped` };

const marks = { open: "·", running: "▸", done: "✓", failed: "✗", skipped: "–" } as const;
const colours = {
  open: "text-muted",
  running: "text-accent",
  done: "text-ok",
  failed: "text-bad",
  skipped: "text-muted",
};

/** Few steps are always all shown. */
const fewSteps = 3;

/** An agent's plan: closed it shows the step at which it is. */
export function Plan({ steps }: { readonly steps: PlanBody["steps"] }) {
  const [isOpen, setOpen] = useState(false);
  const done = steps.filter(({ state }) => state === "done" || state === "skipped").length;
  const at = steps.findIndex(({ state }) => state === "running" || state === "failed");
  const current = at === -1 ? steps.findIndex(({ state }) => state === "open") : at;
  const isAll = isOpen || steps.length <= fewSteps;
  const shown = isAll ? steps.map((_, index) => index) : current === -1 ? [] : [current];
  return (
    <section className="plan" aria-label={t`Plan`}>
      <button
        type="button"
        className="plan-head"
        aria-expanded={isAll}
        disabled={steps.length <= fewSteps}
        onClick={() => setOpen(!isOpen)}
      >
        {steps.length > fewSteps && <span aria-hidden>{isOpen ? "▾" : "▸"} </span>}
        {t`Plan: ${done} of ${{ all: steps.length }} done`}
      </button>
      <ol>
        {shown.map((index) => {
          const { text, state } = steps[index]!;
          return (
            <li key={index} value={index + 1} aria-current={index === current ? "step" : undefined}>
              <span aria-hidden className={`plan-mark ${colours[state]}`}>
                {marks[state]}
              </span>
              <span dir="auto" className={index === current ? "" : "text-muted"}>
                {text}
              </span>
              <span className="sr-only"> ({stateNames[state]})</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
