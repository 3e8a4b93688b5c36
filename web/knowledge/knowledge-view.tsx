import { t } from "@lingui/core/macro";
import { refreshAfter, useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import type { ViewProps } from "../page/view-list.tsx";
import { useQuery } from "../page/path.ts";
import { useChanges } from "../stream/changes.ts";
import { Ask } from "./ask.tsx";
import { CollectionPage } from "./collection-page.tsx";
import { Collections, lookMs } from "./collections.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";
import { client } from "../page/server.ts";

/** All collections, or one. */
export function KnowledgeView({ rest }: ViewProps) {
  useChanges("knowledge", () => {
    for (const key of [["collections"], ["documents"]]) void refreshAfter(key);
  });
  return rest === undefined ? <Shelf /> : <CollectionPage key={rest} id={rest} />;
}

function Shelf() {
  const query = useQuery();
  const isAsking = query.get("show") === "ask" || query.has("trace");
  const loaded = useAnswer(["collections"], client.knowledge.collections, { everyMs: (all = []) => lookMs(all) });
  return (
    <KnowledgeFrame
      tabs={[
        { to: "/knowledge", name: t`Collections`, isCurrent: !isAsking },
        { to: "/knowledge?show=ask", name: t`Ask`, isCurrent: isAsking },
      ]}
    >
      <h1>{isAsking ? t`Test a query` : t`Knowledge`}</h1>
      <Waiting of={loaded} />
      {loaded.data && (isAsking ? <Ask collections={loaded.data} /> : <Collections of={loaded.data} />)}
    </KnowledgeFrame>
  );
}
