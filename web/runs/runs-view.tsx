import { lazy, Suspense } from "react";
import { t } from "@lingui/core/macro";
import type { ViewProps } from "../page/view-list.tsx";
import "../parts/dense.css";
import { PageLink } from "../parts/page-link.tsx";
import { useQuery } from "../page/path.ts";
import { RunList } from "../run-list/run-list.tsx";
import { RunPage } from "./run-page.tsx";
import "../run-list/runs.css";
import { TryTool } from "./try-tool.tsx";

/** With what tells two texts apart, so not loaded with the list. */
const CompareRuns = lazy(async () => ({ default: (await import("./compare-runs.tsx")).CompareRuns }));

/** What ran and what happened in it, and single calls of tools. */
export function RunsView({ rest }: ViewProps) {
  const query = useQuery();
  const tool = query.get("tool");
  const other = query.get("with");
  const isTool = rest === undefined && tool !== null;
  return (
    <div className="dense-view flex min-h-0 flex-1 flex-col">
      <nav aria-label={t`Runs`} className="flex shrink-0 overflow-x-auto border-b border-hairline px-2">
        <PageLink to="/runs" look="section-link" isCurrent={!isTool}>
          {t`Runs`}
        </PageLink>
        <PageLink to="/runs?tool=" look="section-link" isCurrent={isTool}>
          {t`Test a tool`}
        </PageLink>
      </nav>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="grid max-w-[80rem] grid-cols-[minmax(0,1fr)] gap-4">
          {rest === undefined && <h1>{isTool ? t`Test a tool` : t`Runs`}</h1>}
          {rest !== undefined && other !== null ? (
            <Suspense fallback={<p className="text-muted">{t`Loading…`}</p>}>
              <CompareRuns key={`${rest} ${other}`} id={rest} other={other} />
            </Suspense>
          ) : rest !== undefined ? (
            <RunPage key={rest} id={rest} />
          ) : isTool ? (
            <TryTool name={tool} />
          ) : (
            <RunList />
          )}
        </div>
      </div>
    </div>
  );
}
