import { ColloquyError, ModelError } from "../../protocol/base/errors.ts";
import { shownMessage } from "./shown-message.ts";

/** An error in Anthropic's format. */
export type AnthropicError = {
  readonly type: "error";
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details?: { readonly error_code: string; readonly unsupported?: null };
  };
  readonly request_id?: string;
};

/** Converts any error to Anthropic's format. Reveals nothing of unexpected errors. */
export function anthropicError(error: unknown, requestId?: string): AnthropicError {
  const known = error instanceof ColloquyError ? error : undefined;
  const message = known ? shownMessage(known.message) : "Internal error; the server's log has more.";
  return {
    type: "error",
    error: { type: typeOf(anthropicStatus(known)), message, ...(known && detailsOf(known)) },
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** What its clients know as "ask again later" has a status of its own. */
export function anthropicStatus(error: ColloquyError | undefined): number {
  if (!error) return 500;
  return error.code === "model_overloaded" || (error instanceof ModelError && error.kind === "overloaded")
    ? 529
    : error.status;
}

/** By these its clients tell whether they send the conversation again. */
function detailsOf({ code }: ColloquyError) {
  if (!/^thread_(?:not_found|fingerprint_mismatch|unsupported_request)$/.test(code)) return {};
  return { details: { error_code: code, ...(code === "thread_unsupported_request" && { unsupported: null }) } };
}

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function typeOf(status: number): string {
  return types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}
