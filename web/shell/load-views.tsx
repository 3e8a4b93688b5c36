import { lazy, type ComponentType } from "react";
import { ChatPage } from "../chat/chat-page.tsx";
import type { ViewPath, ViewProps } from "../page/view-list.tsx";

/** What shows each view; those that are large load when they are first shown. */
export const shownViews: Readonly<Record<ViewPath, ComponentType<ViewProps>>> = {
  chat: ({ rest }) => <ChatPage threadId={rest} />,
  rooms: lazy(async () => ({ default: (await import("../rooms/rooms-view.tsx")).RoomsView })),
  tasks: lazy(async () => ({ default: (await import("../tasks/tasks-view.tsx")).TasksView })),
  knowledge: lazy(async () => ({ default: (await import("../knowledge/knowledge-view.tsx")).KnowledgeView })),
  runs: lazy(async () => ({ default: (await import("../runs/runs-view.tsx")).RunsView })),
  schedules: lazy(async () => ({ default: (await import("../schedules/schedules-view.tsx")).SchedulesView })),
  taiga: lazy(async () => ({ default: (await import("../taiga/taiga-view.tsx")).TaigaView })),
  admin: lazy(async () => ({ default: (await import("../admin/admin-page.tsx")).AdminPage })),
  settings: lazy(async () => ({ default: (await import("../settings/settings-page.tsx")).SettingsPage })),
};
