import { Keyboard, Monitor, Moon, PanelLeft, Settings, SquarePen, Sun, Users } from "lucide-react";
import { t } from "@lingui/core/macro";
import { listChoice } from "../browser/screen-width.ts";
import { theme } from "../browser/theme.ts";
import { goTo } from "../page/path.ts";
import { useAvailableViews, type View } from "../page/view-list.tsx";

const actionNames = {
  palette: t`Search and commands`,
  "new-conversation": t`New conversation`,
  search: t`Search conversations`,
  "toggle-list": t`Collapse or expand the sidebar`,
  "focus-composer": t`Go to the message field`,
  stop: t`Stop running agents`,
  "copy-last-reply": t`Copy the last answer`,
  "answer-again": t`Retry`,
  theme: t`Switch theme`,
  help: t`Show this help`,
};

const sections = [
  { path: "/admin/usage", name: t`Administration: Usage` },
  { path: "/admin/models", name: t`Administration: Models` },
  { path: "/admin/agents", name: t`Administration: Agents` },
  { path: "/admin/mcp-servers", name: t`Administration: MCP servers` },
  { path: "/admin/people", name: t`Administration: People` },
  { path: "/admin/groups", name: t`Administration: Groups` },
  { path: "/admin/budgets", name: t`Administration: Budgets` },
  { path: "/admin/settings", name: t`Administration: Settings` },
  { path: "/settings/shortcuts", name: t`Settings: Keyboard shortcuts` },
  { path: "/settings/access", name: t`Settings: Access` },
  { path: "/settings/use", name: t`Settings: Usage` },
  { path: "/settings/account", name: t`Settings: Account` },
];

type Command = {
  readonly id: string;
  readonly name: string;
  readonly icon: View["icon"];
  readonly run: () => void;
};

/** What the palette offers beside conversations and agents: what can be done anywhere, and where one can go. */
export function useCommands(onHelp: () => void): {
  readonly actions: readonly Command[];
  readonly places: readonly Command[];
} {
  const views = useAvailableViews();
  return {
    actions: [
      { id: "new", name: t`New conversation`, icon: SquarePen, run: () => goTo("/") },
      { id: "room", name: t`New room`, icon: Users, run: () => goTo("/rooms") },
      { id: "light", name: t`Use light theme`, icon: Sun, run: () => theme.set("light") },
      { id: "dark", name: t`Use dark theme`, icon: Moon, run: () => theme.set("dark") },
      { id: "system", name: t`Use system theme`, icon: Monitor, run: () => theme.set("") },
      {
        id: "list",
        name: actionNames["toggle-list"],
        icon: PanelLeft,
        run: () => listChoice.set(listChoice.get() === "" ? "closed" : ""),
      },
      { id: "keys", name: t`Keyboard shortcuts`, icon: Keyboard, run: onHelp },
    ],
    places: [
      ...views
        .filter(({ path }) => path !== "chat")
        .map(({ path, name, icon }) => ({ id: path, name, icon, run: () => goTo(`/${path}`) })),
      ...sections
        .filter(({ path }) => views.some((view) => path.startsWith(`/${view.path}/`)))
        .map(({ path, name }) => ({ id: path, name, icon: Settings, run: () => goTo(path) })),
    ],
  };
}
