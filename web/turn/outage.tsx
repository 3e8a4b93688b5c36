import { useEffect, useState } from "react";
import { t } from "@lingui/core/macro";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import type { Outage } from "../../src/protocol/threads/items.ts";
import { useAnswerers } from "../conversation/models-store.ts";
import { serverNow } from "../browser/server-time.ts";
import { client } from "../page/server.ts";

/** By the code of the fault. */
const faultTexts: Readonly<Record<string, (who: string) => string>> = {
  model_unreachable: (who) => t`${who} is not responding`,
  model_timeout: (who) => t`${who} timed out`,
  model_rate_limit: (who) => t`${who} is limiting requests`,
  model_overloaded: (who) => t`${who} is overloaded`,
  model_server: (who) => t`${who} reported an internal error`,
  model_cut: (who) => t`${who} stopped in the middle of its answer`,
  model_garbage: (who) => t`${who} sent an invalid response`,
  model_auth: (who) => t`${who} rejected the API key`,
  model_refused: (who) => t`${who} rejected the request`,
  model_context: (who) => t`${who} can't fit the prompt in its context window`,
};

/** "Ollama at 127.0.0.1:11434 does not answer" */
export function outageText({ model, name = model, provider, host, code }: Omit<Outage, "repeats">): string {
  const who = sourceText(name, provider, host);
  return faultTexts[code]?.(who) ?? t`${who} is unavailable`;
}

function sourceText(model: string, provider: string | undefined, host: string | undefined): string {
  if (host === undefined) return t`The model ${model}`;
  return provider === undefined ? t`The model server at ${host}` : t`${provider} at ${host}`;
}

/** An attempt failed, and the next one comes in a moment. */
export function Retrying({ retry }: { readonly retry: NonNullable<BlockOf<"message">["retry"]> }) {
  const seconds = Math.max(1, Math.round(retry.afterMs / 1000));
  return (
    <p role="status" className="text-sm text-warn">
      {`${outageText(retry)}; ${t`retrying in ${seconds} s`}`}
    </p>
  );
}

type OutageProps = {
  readonly question: BlockOf<"question">;
  readonly outage: Outage;
  readonly isBusy: boolean;
  readonly onDecide: (input: DecisionInput) => void;
};

/** A run that waits for its model: when it asks again by itself, and what a person may do instead. */
export function OutageChoices({ question, outage, isBusy, onDecide }: OutageProps) {
  const retryAt = useRetryAt(question.run);
  const { models } = useAnswerers();
  const [isChoosing, setChoosing] = useState(false);
  const others = models.filter(({ id, state }) => id !== outage.model && state !== "unavailable");
  return (
    <>
      <p className="text-sm text-muted" role="status">
        {outage.repeats ? nextTry(retryAt) : t`Retrying won't help. Fix the reported error or choose another model.`}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button-main" disabled={isBusy} onClick={() => onDecide({ decision: "retry" })}>
          {t`Retry now`}
        </button>
        {isChoosing ? (
          <select
            className="field"
            aria-label={t`Which model?`}
            disabled={isBusy}
            value=""
            onChange={(event) => onDecide({ decision: "model", text: event.target.value })}
          >
            <option value="" disabled>
              {t`Which model?`}
            </option>
            {others.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        ) : (
          <button
            type="button"
            className="button"
            disabled={isBusy || others.length === 0}
            onClick={() => setChoosing(true)}
          >
            {t`Another model`}
          </button>
        )}
        <button type="button" className="button" disabled={isBusy} onClick={() => onDecide({ decision: "stop" })}>
          {t`End run`}
        </button>
      </div>
    </>
  );
}

function nextTry(retryAt: number | undefined): string {
  const seconds = retryAt === undefined ? 0 : Math.round((retryAt - serverNow()) / 1000);
  if (seconds < 2) return t`Retrying now.`;
  return t`Retries automatically in ${{ time: seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min` }}.`;
}

const lookMs = 1000;
/** The log does not say that it asked again in vain, so the run is looked at: when that time has come, and now and then. */
const againMs = 15_000;

/** When the run asks again by itself, in the time of this page. */
function useRetryAt(run: string): number | undefined {
  const [retryAt, setRetryAt] = useState<number>();
  const [, tick] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    let known: number | undefined;
    let lookedAt = 0;
    const look = async () => {
      lookedAt = Date.now();
      try {
        const { retryAt: at } = await client.run(run, gone.signal);
        known = at === null ? undefined : Date.parse(at);
        setRetryAt(known);
      } catch {
        // The next look may reach the server.
      }
    };
    void look();
    const timer = setInterval(() => {
      const isDue = known === undefined || known < serverNow();
      if (Date.now() - lookedAt > (isDue ? 2 * lookMs : againMs)) void look();
      tick((count) => count + 1);
    }, lookMs);
    return () => {
      gone.abort();
      clearInterval(timer);
    };
  }, [run]);
  return retryAt;
}
