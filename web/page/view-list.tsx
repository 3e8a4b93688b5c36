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
import type { ComponentType } from "react";
import { t } from "@lingui/core/macro";
import { type Feature, useFeatures } from "./features.ts";
import { useMe } from "./me.ts";

export type ViewPath = "chat" | "rooms" | "tasks" | "knowledge" | "runs" | "schedules" | "taiga" | "admin" | "settings";

/** `rest`: what stands in the path behind the view's own name, if anything. */
export type ViewProps = { readonly rest: string | undefined };
/** A view in the menu; what shows it is in `load-views.tsx`. */
export type View = {
  /** In the path: `runs` for /runs and /runs/…; the server sends the page for each (src/http/all-routes.ts). */
  readonly path: ViewPath;
  readonly name: string;
  readonly icon: ComponentType<{ readonly size?: number; readonly "aria-hidden"?: boolean }>;
  readonly isForAdmins?: boolean;
  /** Its link stands elsewhere: in the list of conversations, or in the account's menu. */
  readonly isElsewhere?: boolean;
  /** Offered only where the server has it. */
  readonly needs?: Feature;
};

/** The views of the page, in the order of the menu. */
export const views: readonly View[] = [
  { path: "chat", name: t`Conversations`, icon: MessageSquare, isElsewhere: true },
  {
    path: "rooms",
    name: t`Rooms`,
    icon: Users,
    isElsewhere: true,
  },
  {
    path: "tasks",
    name: t`Tasks`,
    icon: ListTodo,
  },
  {
    path: "knowledge",
    name: t`Knowledge`,
    icon: BookOpen,
  },
  {
    path: "runs",
    name: t`Runs`,
    icon: ChartGantt,
  },
  {
    path: "schedules",
    name: t`Schedules`,
    icon: CalendarClock,
  },
  {
    path: "taiga",
    name: t`Taiga`,
    icon: ClipboardList,
    needs: "taiga",
  },
  {
    path: "admin",
    name: t`Administration`,
    icon: ShieldCheck,
    isForAdmins: true,
    isElsewhere: true,
  },
  {
    path: "settings",
    name: t`Settings`,
    icon: Settings,
    isElsewhere: true,
  },
];

/** The views that are of use to whoever looks at the page, on this server. */
export function useAvailableViews(): readonly View[] {
  const me = useMe();
  const features = useFeatures();
  return views.filter(
    ({ isForAdmins = false, needs }) =>
      (!isForAdmins || me?.role === "admin") && (needs === undefined || features.has(needs)),
  );
}
