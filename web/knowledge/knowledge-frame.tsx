import type { ReactNode } from "react";
import { t } from "@lingui/core/macro";
import "../parts/dense.css";
import { PageLink } from "../parts/page-link.tsx";
import "./knowledge.css";

type FrameProps = {
  readonly tabs: readonly { readonly to: string; readonly name: string; readonly isCurrent: boolean }[];
  readonly children: ReactNode;
};

/** Tabs, and what they show below. */
export function KnowledgeFrame({ tabs, children }: FrameProps) {
  return (
    <div className="dense-view flex min-h-0 flex-1 flex-col">
      <nav aria-label={t`Knowledge`} className="flex shrink-0 overflow-x-auto border-b border-hairline px-2">
        {tabs.map(({ to, name, isCurrent }) => (
          <PageLink key={to} to={to} look="section-link" isCurrent={isCurrent}>
            {name}
          </PageLink>
        ))}
      </nav>
      <div className="knowledge-scroll min-h-0 flex-1 overflow-y-auto p-4">
        <div className="grid max-w-[72rem] grid-cols-[minmax(0,1fr)] gap-5">{children}</div>
      </div>
    </div>
  );
}
