import { Keyboard, Monitor, Moon, PanelLeft, Settings, SquarePen, Sun, Users } from "lucide-react";
import { listChoice } from "../browser/screen-width.ts";
import { theme } from "../browser/theme.ts";
import { goTo } from "../page/path.ts";
import { useAvailableViews, type View } from "../page/view-list.tsx";
import { words } from "../words/words.ts";

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
  const { theme: themes } = words.palette;
  return {
    actions: [
      { id: "new", name: words.newChat, icon: SquarePen, run: () => goTo("/") },
      { id: "room", name: words.palette.newRoom, icon: Users, run: () => goTo("/rooms") },
      { id: "light", name: themes.light, icon: Sun, run: () => theme.set("light") },
      { id: "dark", name: themes.dark, icon: Moon, run: () => theme.set("dark") },
      { id: "system", name: themes.system, icon: Monitor, run: () => theme.set("") },
      {
        id: "list",
        name: words.actions["toggle-list"],
        icon: PanelLeft,
        run: () => listChoice.set(listChoice.get() === "" ? "closed" : ""),
      },
      { id: "keys", name: words.shortcuts, icon: Keyboard, run: onHelp },
    ],
    places: [
      ...views
        .filter(({ path }) => path !== "chat")
        .map(({ path, name, icon }) => ({ id: path, name, icon, run: () => goTo(`/${path}`) })),
      ...words.palette.sections
        .filter(({ path }) => views.some((view) => path.startsWith(`/${view.path}/`)))
        .map(({ path, name }) => ({ id: path, name, icon: Settings, run: () => goTo(path) })),
    ],
  };
}
