import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { EndpointCall } from "../server/endpoint.ts";

/** A model that gives something else than text, by the name it was asked by, and by its own. */
export type CountedModel = { readonly asked: string; readonly model: string; readonly provider: string };

/** What was used so far; `ask` raises it as it goes on. */
export type UsedTokens = { input: number; output: number };

/**
 * Asks a model once: it stands in the call log, and is held to what the account may spend. `expected`: the tokens that it may
 * come to. Throws `budget_reached`. What fails on its way counts as far as it came.
 */
export async function countedCall<Answer>(
  { services, caller, reply }: EndpointCall,
  { asked, model, provider }: CountedModel,
  expected: number,
  ask: (used: UsedTokens) => Promise<Answer>,
): Promise<Answer> {
  const reserved = await services.spending?.holds.hold(caller.userId, { model, tokens: expected });
  if (reserved?.isNear) reply.header("x-colloquy-budget", "nearly used up");
  const startedAt = new Date();
  const begun = performance.now();
  const used: UsedTokens = { input: 0, output: 0 };
  const report = (error: string | null) => {
    const isUsed = error === null || used.input + used.output > 0;
    const record: ModelCallRecord = {
      ...{ id: newId(), userId: caller.userId, runId: null, step: null, attempt: null },
      ...{ asked, model, provider, startedAt, firstPartMs: null, finish: error === null ? "stop" : null, error },
      totalMs: Math.round((performance.now() - begun) * 10) / 10,
      inputTokens: isUsed ? used.input : null,
      outputTokens: isUsed ? used.output : null,
    };
    services.callLog.add(record);
    reserved?.record(record);
  };
  try {
    const answer = await ask(used);
    report(null);
    return answer;
  } catch (error) {
    report(messageOf(error));
    throw error;
  } finally {
    reserved?.end();
  }
}
