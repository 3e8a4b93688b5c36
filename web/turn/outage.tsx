import { useEffect, useState } from "react";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import type { Outage } from "../../src/protocol/threads/items.ts";
import { useAnswerers } from "../conversation/models-store.ts";
import { client } from "../page/server.ts";
import { words } from "../words/words.ts";

/** "Ollama at 127.0.0.1:11434 does not answer" */
export function outageText({ model, name = model, provider, host, code }: Omit<Outage, "repeats">): string {
  const { who, faults, faultElse } = words.turn.outage;
  const fault = faults[code as keyof typeof faults] ?? faultElse;
  return `${who({ model: name, ...(provider === undefined ? {} : { provider }), ...(host === undefined ? {} : { host }) })} ${fault}`;
}

/** An attempt failed, and the next one comes in a moment. */
export function Retrying({ retry }: { readonly retry: NonNullable<BlockOf<"message">["retry"]> }) {
  const seconds = Math.max(1, Math.round(retry.afterMs / 1000));
  return (
    <p role="status" className="text-sm text-warn">
      {`${outageText(retry)}; ${words.turn.outage.tryingIn(seconds)}`}
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
  const { now, another, which } = words.turn.outage;
  return (
    <>
      <p className="text-sm text-muted" role="status">
        {outage.repeats ? nextTry(retryAt) : words.turn.outage.mend}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button-main" disabled={isBusy} onClick={() => onDecide({ decision: "retry" })}>
          {now}
        </button>
        {isChoosing ? (
          <select
            className="field"
            aria-label={which}
            disabled={isBusy}
            value=""
            onChange={(event) => onDecide({ decision: "model", text: event.target.value })}
          >
            <option value="" disabled>
              {which}
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
            {another}
          </button>
        )}
        <button type="button" className="button" disabled={isBusy} onClick={() => onDecide({ decision: "stop" })}>
          {words.turn.outage.end}
        </button>
      </div>
    </>
  );
}

function nextTry(retryAt: number | undefined): string {
  const { soon, next } = words.turn.outage;
  const seconds = retryAt === undefined ? 0 : Math.round((retryAt - Date.now()) / 1000);
  if (seconds < 2) return soon;
  return next(seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
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
      const isDue = known === undefined || known < Date.now();
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
