import { useEffect } from "react";
import { t } from "@lingui/core/macro";
import { confirmAction } from "../confirm.tsx";
import { goTo } from "../../page/path.ts";
import { base } from "../../page/server.ts";

/** While there are any, people are asked before the page leads elsewhere, by whatever way, or is closed. */
export function useUnsavedChanges(areThere: boolean): void {
  useEffect(() => {
    if (!areThere) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
    // Of a browser without it the tab alone is guarded.
    globalThis.navigation?.addEventListener(
      "navigate",
      (event) => {
        const { destination, navigationType } = event;
        const { pathname, search } = new URL(destination.url);
        const isElsewhere = destination.sameDocument && pathname + search !== location.pathname + location.search;
        if (!isElsewhere || !event.cancelable) return;
        event.preventDefault();
        void mayGo().then((may) => {
          if (!may) return;
          leaving.abort();
          if (navigationType === "traverse") navigation.traverseTo(destination.key);
          else goTo(pathname.slice(base.length) + search, { replace: navigationType === "replace" });
        });
      },
      { signal },
    );
    return () => leaving.abort();
  }, [areThere]);
}

const mayGo = () =>
  confirmAction({
    title: t`Discard your changes?`,
    text: t`What you changed here is not saved.`,
    action: t`Discard changes`,
  });
