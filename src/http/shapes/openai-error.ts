import { ColloquyError, ModelError } from "../../protocol/base/errors.ts";
import { shownMessage } from "./shown-message.ts";

/** An error in OpenAI's format. */
export type OpenAiError = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
};

/** Converts any error to OpenAI's format. Reveals nothing of unexpected errors. */
export function openAiError(error: unknown): OpenAiError {
  if (!(error instanceof ColloquyError))
    return openAiErrorOf(500, "Internal error; the server's log has more.", "internal");
  const code = error instanceof ModelError && error.kind === "context" ? "context_length_exceeded" : error.code;
  return openAiErrorOf(error.status, error.message, code, error.detail.param);
}

function openAiErrorOf(status: number, message: string, code: string | null, param?: string): OpenAiError {
  return { error: { message: shownMessage(message), type: typeOf(status), param: param ?? null, code } };
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}
