import type { ReactNode } from "react";
import { plural, t } from "@lingui/core/macro";
import type { DefinedModel } from "../../src/protocol/agents/definitions.ts";
import { definitions } from "./admin-client.ts";
import { ConnectModel } from "./connect-model.tsx";
import { Default } from "./default-choice.tsx";
import { DefinitionList } from "./definition-list.tsx";
import { figure, time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { modelFields, Trial } from "./model-trial.tsx";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { reachNames } from "./admin-names.ts";

/** What thinks: connected, tried, and how each does. */
export function Models() {
  const loaded = useAnswer(["admin", "models"], definitions.models.list);
  return (
    <>
      <Default of="model" names={loaded.data?.filter(({ available }) => available).map(({ id }) => id)} />
      <DefinitionList
        section="models"
        kind={definitions.models}
        fields={modelFields}
        loaded={loaded}
        head={[t`Points to`, t`State`, t`Last 24 hours`]}
        cells={(model) => [
          <div key="served" className="min-w-36">
            {servedBy(model)}
            {model.reach !== null && <div className="text-muted">{reachNames[model.reach]}</div>}
          </div>,
          <Health key="health" model={model} />,
          tries(model).length > 0 ? (
            ""
          ) : model.health === null ? (
            <span className="text-muted">{t`not used this week`}</span>
          ) : (
            <div key="use" className="min-w-28">
              <PageLink to={`/admin?model=${encodeURIComponent(model.id)}`}>
                {t`${plural({ count: model.health.requests }, { one: "# request", other: "# requests" })}, ${{ errors: figure(model.health.errors) }} failed`}
              </PageLink>
            </div>
          ),
        ]}
        actions={({ id }, show) => (
          <Act name={`${t`Test`}: ${id}`} onAct={async () => show(<Trial trial={await definitions.tryModel(id)} />)}>
            {t`Test`}
          </Act>
        )}
        tryDraft={async (draft): Promise<ReactNode> => <Trial trial={await definitions.tryModel(draft)} />}
        create={(close) => <ConnectModel onSaved={close} onClose={close} known={loaded.data ?? []} />}
      />
    </>
  );
}

/** Which others a model consists of. */
function tries({ provider, definition }: DefinedModel): readonly string[] {
  const others = definition?.["fallback"];
  return provider === "fallback" && Array.isArray(others) ? others.map(String) : [];
}

function servedBy(model: DefinedModel): string {
  const others = tries(model);
  if (others.length > 0) return others.length === 1 ? t`points to ${{ first: others[0]! }}` : others.join(t`, then `);
  return `${model.provider} · ${model.name}`;
}

function Health({ model: { available, reason, health } }: { readonly model: DefinedModel }) {
  if (!available)
    return (
      <>
        <State grade="bad">{t`not available`}</State>
        {reason !== undefined && <div className="text-muted">{reason}</div>}
      </>
    );
  const failsNow = health?.lastErrorAt !== null && health !== null && health.lastErrorAt >= health.lastUsedAt;
  return (
    <>
      <State grade={failsNow ? "warn" : "ok"}>{failsNow ? t`last request failed` : t`available`}</State>
      {health?.lastError && health.lastErrorAt && (
        <div className="max-w-48 truncate text-muted" title={health.lastError}>
          {t`Last error, ${{ at: time(health.lastErrorAt) }}: ${{ error: health.lastError }}`}
        </div>
      )}
    </>
  );
}
