import { t } from "@lingui/core/macro";
import type { AnswerState } from "./answers.ts";
import { Problem } from "./problem.tsx";

/** What stands instead of a table while there is nothing to show. */
export function Waiting({ of }: { readonly of: AnswerState<unknown> }) {
  if (of.problem !== undefined)
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Problem text={of.problem} />
        <button type="button" className="button" onClick={of.reload}>
          {t`Try again`}
        </button>
      </div>
    );
  return of.data === undefined ? <p className="text-muted">{t`Loading…`}</p> : null;
}
