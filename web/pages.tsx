import { MessageSquare, Settings2, Users } from "lucide-react";
import { lazy, type ComponentType } from "react";
import { ChatPage } from "./chat/chat-page.tsx";
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
};

/** The views of the page, in the order of the menu; those that are large load when they are first shown (`lazy`). */
export const views: readonly View[] = [
  { path: "chat", name: words.conversations, icon: MessageSquare, show: ({ rest }) => <ChatPage threadId={rest} /> },
  {
    path: "rooms",
    name: words.rooms.title,
    icon: Users,
    show: lazy(async () => ({ default: (await import("./rooms/rooms-view.tsx")).RoomsView })),
  },
  {
    path: "admin",
    name: words.admin,
    icon: Settings2,
    show: lazy(async () => ({ default: (await import("./admin/admin-page.tsx")).AdminPage })),
    isForAdmins: true,
  },
];
