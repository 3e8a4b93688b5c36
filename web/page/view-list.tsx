import {
  BookOpen,
  CalendarClock,
  ChartGantt,
  ClipboardList,
  ListTodo,
  MessageSquare,
  Settings,
  ShieldCheck,
  Users,
} from "lucide-react";
import { lazy, type ComponentType } from "react";
import { ChatPage } from "./chat/chat-page.tsx";
import type { Feature } from "./features.ts";
import { words } from "./words.ts";

/** `rest`: what stands in the path behind the view's own name, if anything. */
export type ViewProps = { readonly rest: string | undefined };
export type View = {
  /** In the path: `runs` for /runs and /runs/…; the server sends the page for each (src/http/all-routes.ts). */
  readonly path: string;
  readonly name: string;
  readonly icon: ComponentType<{ readonly size?: number; readonly "aria-hidden"?: boolean }>;
  readonly show: ComponentType<ViewProps>;
  readonly isForAdmins?: boolean;
  /** Its link stands below everything, not in the menu. */
  readonly isBelow?: boolean;
  /** Offered only where the server has it. */
  readonly needs?: Feature;
};

/** The views of the page, in the order of the menu; those that are large load when they are first shown (`lazy`). */
export const views: readonly View[] = [
  { path: "chat", name: words.conversations, icon: MessageSquare, show: ({ rest }) => <ChatPage threadId={rest} /> },
  {
    path: "rooms",
    name: words.rooms,
    icon: Users,
    show: lazy(async () => ({ default: (await import("./rooms/rooms-view.tsx")).RoomsView })),
  },
  {
    path: "tasks",
    name: words.tasks,
    icon: ListTodo,
    show: lazy(async () => ({ default: (await import("./tasks/tasks-view.tsx")).TasksView })),
  },
  {
    path: "knowledge",
    name: words.knowledge,
    icon: BookOpen,
    show: lazy(async () => ({ default: (await import("./knowledge/knowledge-view.tsx")).KnowledgeView })),
  },
  {
    path: "runs",
    name: words.runs,
    icon: ChartGantt,
    show: lazy(async () => ({ default: (await import("./runs/runs-view.tsx")).RunsView })),
  },
  {
    path: "schedules",
    name: words.schedules,
    icon: CalendarClock,
    show: lazy(async () => ({ default: (await import("./schedules/schedules-view.tsx")).SchedulesView })),
  },
  {
    path: "taiga",
    name: words.taiga,
    icon: ClipboardList,
    show: lazy(async () => ({ default: (await import("./taiga/taiga-view.tsx")).TaigaView })),
    needs: "taiga",
  },
  {
    path: "admin",
    name: words.admin,
    icon: ShieldCheck,
    show: lazy(async () => ({ default: (await import("./admin/admin-page.tsx")).AdminPage })),
    isForAdmins: true,
  },
  {
    path: "settings",
    name: words.settings,
    icon: Settings,
    show: lazy(async () => ({ default: (await import("./settings/settings-page.tsx")).SettingsPage })),
    isBelow: true,
  },
];
