import { messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Model, ModelCallRecord, ModelPart, ModelRequest } from "../../protocol/agents/models.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import {
  asBudgetReached,
  hasBudgets,
  holdSpending,
  settleSpending,
  warningText,
} from "../../store/metering/spending.ts";
import { estimate, schemaTokens } from "../log/estimate-tokens.ts";
import { expectedOf, actualSpending } from "./reservation.ts";
import type { ReservedRequest } from "../contract/reserved-step.ts";
import type { Runtime } from "../contract/runtime.ts";

/** Requests to models outside of runs, held to what their accounts may spend. */
export type RequestReservations = {
  /**
   * Reserves what a request may come to. Undefined, at once and without SQL: no budget is set. Throws `budget_reached` (429).
   */
  begin(userId: string, model: Model, request: ModelRequest): Promise<RequestReservation> | undefined;
  /** The same of a request that is no chat: it may come to so many tokens, at the price of this model's input. */
  hold(
    userId: string,
    expected: { readonly model: string; readonly tokens: number },
  ): Promise<RequestReservation> | undefined;
  /** A budget was set or removed here. */
  changed(): Promise<void>;
  close(): void;
};

/** A request to a model, with what was reserved for it. */
export type RequestReservation = {
  /** Whether a budget is nearly used up. */
  readonly isNear: boolean;
  /** Takes every record of the request. */
  record(record: ModelCallRecord): void;
  /** Takes every batch of its answer. */
  read(parts: readonly ModelPart[]): void;
  /** Ends the reservation, also after a failure. Settles it in the background. */
  end(): void;
};

/** How long the reservation of a node that died stays in place. */
const holdSeconds = 900;
const lookEveryMs = 5000;

export function createRequestReservations({
  query,
  costOf,
  log,
  runsJobs,
}: {
  readonly query: Query;
  readonly costOf: Runtime["costOf"];
  readonly log: Log;
  /** Whether this process asks models for long: it then looks every few seconds whether others set a budget. */
  readonly runsJobs: boolean;
}): RequestReservations {
  // Until it is known, there may be some.
  let any = true;
  const look = async () => {
    any = await hasBudgets(query).catch(() => any);
  };
  void look();
  const timer = runsJobs ? setInterval(() => void look(), lookEveryMs).unref() : undefined;

  async function begin(userId: string, model: Model, request: ModelRequest): Promise<RequestReservation> {
    const input =
      request.messages.reduce((sum, { content }) => sum + estimate(content), 0) + schemaTokens(request.tools ?? []);
    const expected = expectedOf(model, { input, maxTokens: request.settings?.maxTokens }, costOf);
    return reserve(userId, { expected, input, model: model.id });
  }

  async function reserve(userId: string, reserved: ReservedRequest): Promise<RequestReservation> {
    const { expected } = reserved;
    const state = await holdSpending(query, userId, { ...expected, seconds: holdSeconds }).catch((error: unknown) => {
      throw asBudgetReached(error)?.error ?? error;
    });
    if (state?.warning?.first) log.warn({ userId }, warningText(state.warning));
    const records: ModelCallRecord[] = [];
    const answer = { records, usage: undefined, text: "", reasoning: "" };
    return {
      isNear: state?.warning !== undefined,
      record: (record) => void records.push(record),
      read(parts) {
        for (const part of parts)
          if (part.type === "text" || part.type === "reasoning") answer.text += part.text;
          else if (part.type === "call-delta") answer.text += part.arguments;
      },
      end() {
        if (state === null) return;
        const spent = actualSpending(answer, reserved, costOf);
        settleSpending(query, spent).catch((error: unknown) =>
          log.error({ userId, error: messageOf(error) }, "could not record the usage of a request"),
        );
      },
    };
  }

  return {
    begin: (userId, model, request) => (any ? begin(userId, model, request) : undefined),
    hold(userId, { model, tokens }) {
      if (!any) return undefined;
      const cost = costOf(model, { inputTokens: tokens, outputTokens: 0 }) ?? 0;
      return reserve(userId, { expected: { id: newId(), tokens, cost }, input: tokens, model });
    },
    changed: look,
    close: () => clearInterval(timer),
  };
}
