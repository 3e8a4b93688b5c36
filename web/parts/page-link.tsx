import type { ReactNode } from "react";
import { base } from "../page/server.ts";
import { goTo } from "../page/path.ts";

/** Leads elsewhere on the page without loading it anew. */
export function PageLink({
  to,
  children,
  look,
  label,
  isCurrent = false,
  onFollow,
}: {
  readonly to: string;
  readonly children: ReactNode;
  readonly look?: string;
  /** Its name, where it shows only an icon. */
  readonly label?: string | undefined;
  readonly isCurrent?: boolean;
  /** Called when it leads on, here on the page. */
  readonly onFollow?: () => void;
}) {
  return (
    <a
      href={base + to.slice(1)}
      aria-label={label}
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
