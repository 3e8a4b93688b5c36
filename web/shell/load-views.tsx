import { lazy, type ComponentType } from "react";
import { ChatPage } from "../chat/chat-page.tsx";
import { loadWords, type WordsPart } from "../words/words.ts";
import type { ViewPath, ViewProps } from "../page/view-list.tsx";

/** What shows each view; those that are large load when they are first shown. */
export const shownViews: Readonly<Record<ViewPath, ComponentType<ViewProps>>> = {
  chat: ({ rest }) => <ChatPage threadId={rest} />,
  rooms: viewOf(["rooms"], async () => (await import("../rooms/rooms-view.tsx")).RoomsView),
  tasks: viewOf(["tasks"], async () => (await import("../tasks/tasks-view.tsx")).TasksView),
  knowledge: viewOf(["knowledge"], async () => (await import("../knowledge/knowledge-view.tsx")).KnowledgeView),
  runs: viewOf(["runs"], async () => (await import("../runs/runs-view.tsx")).RunsView),
  schedules: viewOf(["schedules"], async () => (await import("../schedules/schedules-view.tsx")).SchedulesView),
  taiga: viewOf(["taiga"], async () => (await import("../taiga/taiga-view.tsx")).TaigaView),
  admin: viewOf(["admin", "runs"], async () => (await import("../admin/admin-page.tsx")).AdminPage),
  settings: viewOf(["settings"], async () => (await import("../settings/settings-page.tsx")).SettingsPage),
};

/** Loads a view behind the words of its parts, which its modules may say as soon as they are there. */
function viewOf(parts: readonly WordsPart[], load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  return lazy(async () => {
    await Promise.all(parts.map(loadWords));
    return { default: await load() };
  });
}
