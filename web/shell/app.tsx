import { CSPProvider } from "@base-ui/react/csp-provider";
import { Menu } from "lucide-react";
import { lazy, Suspense, useState, useEffect } from "react";
import { flushSync } from "react-dom";
import { t } from "@lingui/core/macro";
import { useAttention } from "../threads/notifications.ts";
import { useFollowedAnswers } from "../parts/answers.ts";
import { AnnouncementRegion } from "../parts/announce.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { ShortcutHelp } from "../parts/shortcut-help.tsx";
import { NotFoundPage } from "../parts/not-found.tsx";
import { OwnerRequired } from "./owner-required.tsx";
import { PausedUpdates } from "./paused-updates.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Tips } from "../parts/menus/tips.tsx";
import { listChoice, useIsWide } from "../browser/screen-width.ts";
import { ErrorBoundary } from "../page/error-boundary.tsx";
import { useAvailableViews, views } from "../page/view-list.tsx";
import { shownViews } from "./load-views.tsx";

import { ConfirmDialog } from "../parts/confirm.tsx";
import { goTo, usePath } from "../page/path.ts";
import { type ShortcutName, defaultKeys, useShortcut } from "../browser/shortcuts.ts";
import { nextTheme } from "../browser/theme.ts";
import { endSearch } from "../threads/list-view.ts";
import { useThreadTitle } from "../threads/thread-queries.ts";
import { useTitle } from "../page/title.ts";
import { HeadPlace } from "../page/view-head.tsx";
import "./few-colours.css";
import "./frame.css";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

/** The frame of every view: what there is at the left, the view itself; one column on a phone. */
export function App() {
  const path = usePath();
  useAttention();
  useFollowedAnswers();
  const isWide = useIsWide();
  const choice = listChoice.use();
  const [isSheetOpen, setSheetOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [, name = "", rest] = /^\/([^/]*)(?:\/([^/]+))?/.exec(path) ?? [];
  const found = views.find((each) => each.path === name);
  const isNowhere = !found && name !== "";
  const view = found ?? views[0]!;
  const Shown = shownViews[view.path];
  const offered = useAvailableViews();
  const threadId = found?.path === "chat" ? rest : undefined;
  const threadTitle = useThreadTitle(threadId);
  useTitle(view.path === "chat" ? threadTitle : view.name);

  const isFolded = isWide && choice === "closed";
  const isOpen = isWide ? !isFolded : isSheetOpen;
  const show = (open: boolean) => (isWide ? listChoice.set(open ? "" : "closed") : setSheetOpen(open));
  const close = () => setSheetOpen(false);
  const showHelp = () => setHelpOpen(true);
  const showPalette = () => setPaletteOpen(true);

  useShortcut("palette", showPalette);
  useShortcut("toggle-list", () => show(!isOpen));
  useShortcut("theme", nextTheme);
  useShortcut("help", showHelp);
  useShortcut("new-conversation", () => {
    endSearch();
    goTo("/");
    toComposer();
  });
  useShortcut("focus-composer", toComposer);
  useShortcut("search", () => {
    flushSync(() => show(true));
    document.querySelector<HTMLElement>("#list input[type=search]")?.focus();
  });

  const sidebar = (
    <Sidebar
      current={view}
      threadId={view.path === "chat" || view.path === "rooms" ? rest : undefined}
      isFolded={isFolded}
      onFold={() => show(!isOpen)}
      onChoose={close}
      onPalette={showPalette}
      onHelp={showHelp}
    />
  );
  return (
    <CSPProvider disableStyleElements>
      <div className="frame">
        <a className="skip-link" href="#main" onClick={skip}>
          {t`Skip to content`}
        </a>
        {isWide && (
          <aside id="list" className="sidebar" data-folded={isFolded || undefined}>
            {sidebar}
          </aside>
        )}
        {isSheetOpen && !isWide && (
          <Sheet id="list" name={t`Menu`} onClose={close}>
            {sidebar}
          </Sheet>
        )}
        <main id="main" tabIndex={-1} className="relative flex min-w-0 flex-1 flex-col">
          <header className="view-header">
            {!isWide && (
              <button
                type="button"
                className="icon-button"
                aria-label={t`Show conversations`}
                onClick={() => show(true)}
              >
                <Menu size={16} aria-hidden />
              </button>
            )}
            {view.path !== "chat" && !isWide && <span className="truncate text-sm text-muted">{view.name}</span>}
            <HeadPlace />
          </header>
          <OwnerRequired />
          {/* What is said between people follows on its own, and says itself when it can't. */}
          {!(rest !== undefined && ["chat", "rooms"].includes(view.path)) && <PausedUpdates />}
          <ErrorBoundary key={view.path} instead={<Fallen />}>
            <Suspense fallback={<p className="p-4 text-muted">{t`Loading…`}</p>}>
              {isNowhere ? <NotFoundPage /> : <Shown key={view.path} rest={rest} />}
              <Arrival
                place={threadId === undefined ? view.path : `${view.path}/${threadId}`}
                title={threadTitle || view.name}
              />
            </Suspense>
          </ErrorBoundary>
        </main>
        {isHelpOpen && <ShortcutHelp onClose={() => setHelpOpen(false)} />}
        {isPaletteOpen && (
          <Suspense>
            <Palette onClose={() => setPaletteOpen(false)} onHelp={showHelp} />
          </Suspense>
        )}
        <Tips />
        <AnnouncementRegion />
        <ConfirmDialog />
        {offered.map(({ path: to }) => {
          const action = `go-${to}`;
          return isAction(action) && <GoKeys key={to} action={action} to={to} />;
        })}
      </div>
    </CSPProvider>
  );
}

/** A view that can't be shown, as after the server was replaced, takes nothing else with it. */
function Fallen() {
  return (
    <div role="alert" className="grid justify-items-start gap-3 p-4">
      <p>{t`Something went wrong. The server may have been updated. Reload the page.`}</p>
      <button type="button" className="button-main" onClick={() => location.reload()}>
        {t`Reload page`}
      </button>
    </div>
  );
}

function GoKeys({ action, to }: { readonly action: ShortcutName; readonly to: string }) {
  useShortcut(action, () => goTo(to === "chat" ? "/" : `/${to}`));
  return null;
}

function isAction(name: string): name is ShortcutName {
  return Object.hasOwn(defaultKeys, name);
}

/** Where the view has one; where it comes with the next view, it takes the focus itself. */
function toComposer(): void {
  document.querySelector<HTMLElement>("#main [data-composer]")?.focus();
}

/** Without the `#` in the address, which says where one is. */
function skip(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

let last: string | undefined;

/**
 * Stands behind a view: when another one is shown, or something in it that has a place of its own (`place` of it begins with that
 * of the view), its message field gets the focus, or else its heading, and its title is read out.
 */
function Arrival({ place, title }: { readonly place: string; readonly title: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const isFirst = last === undefined;
    // Out of one of its places and back to the view: whoever closed or removed it is where they were.
    const isSame = last === place || last?.startsWith(`${place}/`);
    last = place;
    if (isFirst || isSame) return;
    setSaid(title);
    const main = document.getElementById("main");
    // A field that wants the focus has taken it.
    if (!main || main.querySelector(":focus")) return;
    // Where one types with the screen, a field that has the focus takes half of it.
    const field = matchMedia("(pointer: coarse)").matches ? null : main.querySelector<HTMLElement>("[data-composer]");
    const target = field ?? main.querySelector<HTMLElement>("h1") ?? main;
    if (target.tabIndex < 0) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }, [place, title]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
