import type { ComponentType } from "react";
import { t } from "@lingui/core/macro";
import { NotFoundPage } from "../parts/not-found.tsx";
import type { ViewProps } from "../page/view-list.tsx";
import { SectionMenu } from "../parts/section-menu.tsx";
import { Access } from "./access.tsx";
import { Account } from "./account.tsx";
import { General } from "./general.tsx";
import { ShortcutTable } from "./shortcut-table.tsx";
import { UsageSettings } from "./usage.tsx";
import "../parts/dense.css";
import "./settings.css";

const sectionNames = {
  general: t`General`,
  shortcuts: t`Keyboard shortcuts`,
  access: t`Access`,
  use: t`Usage`,
  account: t`Account`,
};
type SettingsSection = keyof typeof sectionNames;

const sections: Readonly<Record<SettingsSection, ComponentType>> = {
  general: General,
  shortcuts: ShortcutTable,
  access: Access,
  use: UsageSettings,
  account: Account,
};
const groups = [
  { name: t`This browser`, sections: ["general", "shortcuts"] },
  { name: t({ context: "group", message: `You` }), sections: ["account", "access", "use"] },
] as const satisfies readonly { readonly name: string; readonly sections: readonly SettingsSection[] }[];

/** What everybody sets for themselves. */
export function SettingsPage({ rest }: ViewProps) {
  if (rest !== undefined && !Object.hasOwn(sections, rest)) return <NotFoundPage />;
  const section = (rest ?? "general") as SettingsSection;
  const Shown = sections[section];
  return (
    <div className="sectioned">
      <SectionMenu
        name={t`Settings`}
        path="/settings"
        first="general"
        groups={groups}
        names={sectionNames}
        current={section}
      />
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="grid max-w-[46rem] grid-cols-[minmax(0,1fr)] gap-8">
          <h1 className="text-lg font-semibold">{sectionNames[section]}</h1>
          <Shown key={section} />
        </div>
      </div>
    </div>
  );
}
