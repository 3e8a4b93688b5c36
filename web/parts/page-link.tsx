import type { ReactNode } from "react";
import { base } from "../page/server.ts";
import { goTo } from "../page/path.ts";

/** Leads elsewhere on the page without loading it anew. */
export function PageLink({
  to,
  children,
  look,
  isCurrent = false,
  onFollow,
}: {
  readonly to: string;
  readonly children: ReactNode;
  readonly look?: string;
  readonly isCurrent?: boolean;
  /** Called when it leads on, here on the page. */
  readonly onFollow?: () => void;
}) {
  return (
    <a
      href={base + to.slice(1)}
      className={look ?? "text-accent underline"}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onFollow?.();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}
