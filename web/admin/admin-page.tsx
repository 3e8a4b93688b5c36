import type { ComponentType } from "react";
import { t } from "@lingui/core/macro";
import { useMe } from "../page/me.ts";
import { NotFoundPage } from "../parts/not-found.tsx";
import type { ViewProps } from "../page/view-list.tsx";
import "../parts/dense.css";
import { Agents } from "./agents.tsx";
import { Audit } from "./audit.tsx";
import { Budgets } from "./budgets.tsx";
import { Doctor } from "./doctor.tsx";
import { Groups } from "./groups.tsx";
import { McpServers } from "./mcp-servers.tsx";
import { Models } from "./models.tsx";
import { SectionMenu } from "../parts/section-menu.tsx";
import { People } from "./people.tsx";
import { RunList } from "../run-list/run-list.tsx";
import "../run-list/runs.css";
import { Retention } from "./retention.tsx";
import { Settings } from "./settings.tsx";
import { Usage } from "./usage.tsx";
import { sectionNames } from "./admin-names.ts";
type AdminSection = keyof typeof sectionNames;

const sections: Readonly<Record<AdminSection, ComponentType>> = {
  usage: Usage,
  models: Models,
  agents: Agents,
  "mcp-servers": McpServers,
  runs: () => <RunList ofAll />,
  people: People,
  groups: Groups,
  budgets: Budgets,
  retention: Retention,
  audit: Audit,
  settings: Settings,
  doctor: Doctor,
};
const groups = [
  { name: t`Models & agents`, sections: ["models", "agents", "mcp-servers"] },
  { name: t`People`, sections: ["people", "groups"] },
  { name: t`Governance`, sections: ["usage", "budgets", "retention", "audit"] },
  { name: t`System`, sections: ["runs", "settings", "doctor"] },
] as const satisfies readonly { readonly name: string; readonly sections: readonly AdminSection[] }[];

/** What administrators look at and change. */
export function AdminPage({ rest }: ViewProps) {
  if (rest !== undefined && !Object.hasOwn(sections, rest)) return <NotFoundPage />;
  const section = (rest ?? "usage") as AdminSection;
  const Shown = sections[section];
  const me = useMe();
  if (me && me.role !== "admin") return <p className="p-4">{t`Only admins can view this page.`}</p>;
  return (
    <div className="dense-view sectioned">
      <SectionMenu
        name={t`Administration`}
        path="/admin"
        first="usage"
        groups={groups}
        names={sectionNames}
        current={section}
      />
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="grid max-w-[80rem] grid-cols-[minmax(0,1fr)] gap-5">
          <h1>{sectionNames[section]}</h1>
          <Shown key={section} />
        </div>
      </div>
    </div>
  );
}
