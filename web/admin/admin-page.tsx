import type { ComponentType } from "react";
import type { ViewProps } from "../pages.tsx";
import { words } from "../words.ts";
import "./admin.css";
import { PageLink } from "./parts.tsx";
import { People } from "./people.tsx";
import { Usage } from "./usage.tsx";

const { sections: names } = words.admin;
type Section = keyof typeof names;

const sections: Readonly<Record<Section, ComponentType>> = {
  usage: Usage,
  people: People,
};

/** What administrators look at and change. */
export function AdminPage({ rest }: ViewProps) {
  const section = rest !== undefined && Object.hasOwn(sections, rest) ? (rest as Section) : "usage";
  const Shown = sections[section];
  return (
    <div className="admin flex min-h-0 flex-1 flex-col">
      <nav aria-label={words.admin.name} className="flex shrink-0 overflow-x-auto border-b border-hairline px-2">
        {(Object.keys(sections) as Section[]).map((each) => (
          <PageLink
            key={each}
            to={each === "usage" ? "/admin" : `/admin/${each}`}
            look="section-link"
            isCurrent={each === section}
          >
            {names[each]}
          </PageLink>
        ))}
      </nav>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="grid max-w-[80rem] grid-cols-[minmax(0,1fr)] gap-5">
          <h1>{names[section]}</h1>
          <Shown key={section} />
        </div>
      </div>
    </div>
  );
}
