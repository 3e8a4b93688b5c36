import { Bell, BellOff, Menu, SunMoon } from "lucide-react";
import { Suspense, useState } from "react";
import { notifications, setNotifications } from "./chat/attention.ts";
import { views } from "./pages.tsx";
import { useMe } from "./me.ts";
import { goTo, usePath } from "./path.ts";
import { base } from "./server.ts";
import { ThreadList } from "./threads/thread-list.tsx";
import { words } from "./words.ts";

const themeKey = "colloquy-theme";
document.documentElement.dataset["theme"] = localStorage.getItem(themeKey) ?? "";

/** The frame of every view: what there is at the left, the view itself; one column on a phone. */
export function App() {
  const path = usePath();
  const me = useMe();
  const offered = views.filter(({ isForAdmins = false }) => !isForAdmins || me?.role === "admin");
  const [isOpen, setOpen] = useState(() => innerWidth >= 768);
  const [, name = "", rest] = /^\/([^/]*)(?:\/([^/]+))?/.exec(path) ?? [];
  const view = views.find((each) => each.path === name) ?? views[0]!;
  const close = () => {
    if (innerWidth < 768) setOpen(false);
  };
  return (
    <div className="flex h-dvh">
      {isOpen && (
        <aside className="sidebar">
          {offered.length > 1 && (
            <nav aria-label={words.menu} className="flex flex-wrap gap-1 border-b border-hairline p-2">
              {offered.map(({ path: to, name: text, icon: Icon }) => (
                <a
                  key={to}
                  href={`${base}${to === "chat" ? "" : to}`}
                  className="view-link"
                  aria-current={view.path === to ? "page" : undefined}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey) return;
                    event.preventDefault();
                    goTo(to === "chat" ? "/" : `/${to}`);
                    if (to !== "chat") close();
                  }}
                >
                  <Icon size={16} aria-hidden /> {text}
                </a>
              ))}
            </nav>
          )}
          <ThreadList current={view.path === "chat" ? rest : undefined} onChoose={close} />
          <div className="flex justify-end p-3">
            <NotifySwitch />
            <button type="button" className="icon-button" aria-label={words.theme} onClick={changeTheme}>
              <SunMoon size={16} aria-hidden />
            </button>
          </div>
        </aside>
      )}
      <main className="relative flex min-w-0 flex-1 flex-col">
        <header className="flex items-center gap-2 p-2">
          <button
            type="button"
            className="icon-button"
            aria-label={isOpen ? words.hideList : words.showList}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Menu size={16} aria-hidden />
          </button>
          <span className="text-sm text-muted">{view.path === "chat" ? "Colloquy" : view.name}</span>
        </header>
        <Suspense fallback={<p className="p-4 text-muted">{words.loading}</p>}>
          <view.show key={view.path} rest={rest} />
        </Suspense>
      </main>
    </div>
  );
}

function NotifySwitch() {
  const [isOn, setOn] = useState(notifications);
  if (isOn === undefined) return null;
  const Icon = isOn ? Bell : BellOff;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={words.notify}
      aria-pressed={isOn}
      onClick={() => void setNotifications(!isOn).then(setOn)}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}

/** The other one than is seen; that of the system again after both. */
function changeTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order = isDark ? ["", "light", "dark"] : ["", "dark", "light"];
  const next = order[(order.indexOf(dataset["theme"] ?? "") + 1) % order.length] ?? "";
  dataset["theme"] = next;
  localStorage.setItem(themeKey, next);
}
