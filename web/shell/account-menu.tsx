import {
  Bell,
  BellOff,
  ChevronsUpDown,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Settings,
  ShieldCheck,
  Sun,
} from "lucide-react";
import { t } from "@lingui/core/macro";
import { logOut } from "../../src/client/account.ts";
import { theme } from "../browser/theme.ts";
import { useMe } from "../page/me.ts";
import { goTo } from "../page/path.ts";
import { forgetPerson } from "../page/person.ts";
import { base, reasonOf, server } from "../page/server.ts";
import { announce } from "../parts/announce.tsx";
import { MenuBehind, type MenuEntry } from "../parts/menus/menu.tsx";
import { lookAtConnection } from "../stream/follow.ts";
import { setNotifications, useNotifications } from "../threads/notifications.ts";

const themeNames = { "": t`System`, light: t`Light`, dark: t`Dark` };

type AccountMenuProps = {
  readonly isFolded: boolean;
  readonly onChoose: () => void;
  readonly onHelp: () => void;
};

const themes = [
  { value: "", icon: Monitor },
  { value: "light", icon: Sun },
  { value: "dark", icon: Moon },
] as const;

/** Who looks at the page, and what is theirs: settings, colours, notifications, the way out. */
export function AccountMenu({ isFolded, onChoose, onHelp }: AccountMenuProps) {
  const me = useMe();
  const mayNotify = useNotifications();
  const chosen = theme.use();
  const name = me === undefined ? "…" : me.via === "session" || me.asksOnly ? me.username : t`Local owner`;
  const open = (path: string) => () => {
    onChoose();
    goTo(path);
  };
  const entries: readonly (MenuEntry | false)[] = [
    { name: t`Settings`, icon: Settings, onChoose: open("/settings") },
    me?.role === "admin" && { name: t`Administration`, icon: ShieldCheck, onChoose: open("/admin") },
    {
      name: t`Theme`,
      icon: themes.find(({ value }) => value === chosen)?.icon ?? Monitor,
      entries: themes.map(({ value, icon }) => ({
        name: themeNames[value],
        icon,
        isChosen: value === chosen,
        onChoose: () => theme.set(value),
      })),
    },
    mayNotify !== undefined && {
      name: t`Notifications`,
      icon: mayNotify ? Bell : BellOff,
      isChosen: mayNotify,
      onChoose: () => void setNotifications(!mayNotify),
    },
    { name: t`Keyboard shortcuts`, icon: Keyboard, onChoose: onHelp },
    me?.via === "session" && { name: t`Log out`, icon: LogOut, onChoose: () => void leave() },
  ];
  return (
    <div className="sidebar-foot">
      <MenuBehind
        name={t`Account: ${name}`}
        look={isFolded ? "icon-button" : "account-button"}
        entries={entries.filter((entry) => entry !== false)}
      >
        <span className="account-mark" aria-hidden>
          {[...name][0]?.toUpperCase()}
        </span>
        {!isFolded && (
          <>
            <span className="min-w-0 flex-1 truncate text-start">{name}</span>
            <ChevronsUpDown size={14} aria-hidden />
          </>
        )}
      </MenuBehind>
    </div>
  );
}

async function leave(): Promise<void> {
  try {
    await logOut(server);
    forgetPerson();
    lookAtConnection();
    location.assign(`${base}login`);
  } catch (error) {
    announce(reasonOf(error));
  }
}
