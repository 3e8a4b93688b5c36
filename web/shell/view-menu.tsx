import { Bell, BellOff, Keyboard, LogOut, SunMoon } from "lucide-react";
import { logOut } from "../../src/client/account.ts";
import { setNotifications, useNotifications } from "../threads/notifications.ts";
import { useMe } from "../page/me.ts";
import type { View } from "../page/view-list.tsx";
import { useAct } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { base, server } from "../page/server.ts";
import { nextTheme } from "../browser/theme.ts";
import { words } from "../words/words.ts";

type ViewMenuProps = { readonly views: readonly View[]; readonly current: View; readonly onChoose: () => void };

/** Where one can go. */
export function ViewMenu({ views, current, onChoose }: ViewMenuProps) {
  return (
    <nav aria-label={words.menu} className="view-menu">
      {views
        .filter(({ isBelow = false }) => !isBelow)
        .map((view) => (
          <ViewLink key={view.path} view={view} current={current} onChoose={onChoose} />
        ))}
    </nav>
  );
}

type ViewLinkProps = { readonly view: View; readonly current: View; readonly onChoose: () => void };

function ViewLink({ view: { path, name, icon: Icon }, current, onChoose }: ViewLinkProps) {
  return (
    <PageLink
      to={path === "chat" ? "/" : `/${path}`}
      look="view-link"
      isCurrent={current.path === path}
      onFollow={onChoose}
    >
      <Icon size={16} aria-hidden /> <span className="truncate">{name}</span>
    </PageLink>
  );
}

type ToolsProps = ViewMenuProps & { readonly onHelp: () => void };

/** What is at hand below everything: settings, and who is logged in. */
export function ViewTools({ views, current, onChoose, onHelp }: ToolsProps) {
  const me = useMe();
  const leave = useAct(async () => {
    await logOut(server);
    location.assign(`${base}login`);
  });
  return (
    <div className="border-t border-hairline p-2">
      {me?.via === "session" && (
        <div className="flex items-center gap-2 pl-2 text-sm">
          <span className="min-w-0 flex-1 truncate">{me.username}</span>
          <button
            type="button"
            className="icon-button"
            aria-label={words.logOut}
            title={words.logOut}
            disabled={leave.isBusy}
            onClick={() => leave.act()}
          >
            <LogOut size={16} aria-hidden />
          </button>
        </div>
      )}
      <div className="flex items-center">
        <span className="min-w-0 flex-1">
          {views
            .filter(({ isBelow = false }) => isBelow)
            .map((view) => (
              <ViewLink key={view.path} view={view} current={current} onChoose={onChoose} />
            ))}
        </span>
        <button
          type="button"
          className="icon-button"
          aria-label={words.shortcuts}
          title={words.shortcuts}
          onClick={onHelp}
        >
          <Keyboard size={16} aria-hidden />
        </button>
        <NotifySwitch />
        <button type="button" className="icon-button" aria-label={words.theme} title={words.theme} onClick={nextTheme}>
          <SunMoon size={16} aria-hidden />
        </button>
      </div>
    </div>
  );
}

function NotifySwitch() {
  const isOn = useNotifications();
  if (isOn === undefined) return null;
  const Icon = isOn ? Bell : BellOff;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={words.notify}
      title={words.notify}
      aria-pressed={isOn}
      onClick={() => void setNotifications(!isOn)}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}
