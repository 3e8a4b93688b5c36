import { t } from "@lingui/core/macro";
import { language } from "../browser/language.ts";

/** Why a run failed, by the code of its error. */
const reasons: Readonly<Record<string, string>> = {
  model_refused: t`The model rejected the request.`,
  model_context: t`The conversation is longer than the model's context window.`,
  model_auth: t`The model's provider rejected the API key.`,
  model_rate_limit: t`The model is limiting requests.`,
  model_overloaded: t`The model is overloaded.`,
  model_unreachable: t`The model can't be reached.`,
  model_timeout: t`The model took too long to answer.`,
  model_cut: t`The model stopped in the middle of its answer.`,
  model_garbage: t`The model sent an invalid response.`,
  model_server: t`The model's provider reported an internal error.`,
  model_unavailable: t`This model is not available.`,
  limit_steps: t`The limit of steps is reached.`,
  limit_tool_calls: t`The limit of calls is reached.`,
  limit_writes: t`The limit of changes is reached.`,
  limit_tokens: t`The limit of tokens is reached.`,
  limit_cost: t`The cost limit is reached.`,
  limit_deadline: t`The time limit is reached.`,
  limit_repeated_call: t`The same call was repeated too often.`,
  limit_budget: t`The budget is used up.`,
  budget_reached: t`The budget is used up.`,
  expired: t`Nobody decided in time.`,
  account_erased: t`The account of this run was deleted.`,
  internal: t`Something went wrong on the server.`,
};

/** What the server says of a run that failed is English: other readers have the reason in their own words first. */
export function whyFailed(why: string, code: string | undefined): string {
  const reason = reasonText(code);
  if (language === "en" || reason === undefined) return why;
  return why === "" ? reason : t`${reason} (server message: ${why})`;
}

/** Undefined: this page does not know that code. */
export function reasonText(code: string | undefined): string | undefined {
  return Object.hasOwn(reasons, code ?? "") ? reasons[code!] : undefined;
}
