import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import { ColloquyError, messageOf } from "../../protocol/base/errors.ts";
import { isUnclearStatus } from "../core/nothing-done.ts";
import { streamEnded } from "./watched-transport.ts";
import type { ToolResult } from "../../protocol/agents/tools.ts";

/**
 * What a failed request means. `refused`: the server said no, and did nothing. `failed`: it did or tried something and says
 * that this failed. `not-sent`: it never heard of it. `session-gone`: it must be greeted anew first. `unknown`: it may have
 * been done.
 */
export type Failure = {
  readonly kind: "refused" | "failed" | "not-sent" | "session-gone" | "unknown";
  readonly reason: string;
  /** A write may have been done all the same; it says nothing of the connection. */
  readonly isUnclear?: true;
  /** Of no use to try again soon. */
  readonly isTimeout?: true;
  /** Of no use without another login; `scope`: the same call alone. */
  readonly denied?: "login" | "scope";
};

const longest = 1000;
/** A gateway's words about a server behind it, which may have done its work. */
const fromGateways = [502, 504];
const notFoundCodes = [-32601, -32602, -32020, -32021, -32022];

export function failureOf(error: unknown): Failure {
  const reason = reasonOf(error);
  if (error instanceof ProtocolError) {
    if (error.data === streamEnded) return { kind: "unknown", reason: `the connection was lost: ${reason}` };
    return { kind: notFoundCodes.includes(error.code) ? "refused" : "failed", reason };
  }
  if (error instanceof InsufficientScopeError)
    return { kind: "refused", reason: `it demands a login for more: ${error.requiredScope ?? ""}`, denied: "scope" };
  if (error instanceof SdkHttpError) return failureOfStatus(error.status, reason);
  if (error instanceof SdkError) return failureOfClient(error, reason);
  const { code } = error instanceof ColloquyError ? error : { code: "" };
  if (["unreachable", "address_refused", "url_refused"].includes(code)) return { kind: "not-sent", reason };
  if (code === "sign_in_needed") return { kind: "refused", reason: `it demands a login: ${reason}`, denied: "login" };
  if (code === "timeout") return { kind: "unknown", reason, isTimeout: true };
  if (error instanceof Error && /^Not connected$|has ended\.$/.test(error.message)) return { kind: "not-sent", reason };
  return { kind: "unknown", reason };
}

/** The client's word for silence, for those who count the time themselves. */
export function timeOut(): Error {
  return new SdkError(SdkErrorCode.RequestTimeout, "it did not answer in time");
}

function failureOfStatus(status: number, text: string): Failure {
  const reason = `HTTP ${status}: ${text}`;
  if (status === 404) return { kind: "session-gone", reason };
  if (status === 401 || status === 403)
    return { kind: "refused", reason: `it demands a login (HTTP ${status})`, denied: "login" };
  if (fromGateways.includes(status)) return { kind: "unknown", reason };
  return {
    kind: status < 500 ? "refused" : "failed",
    reason,
    ...(isUnclearStatus(status) && { isUnclear: true as const }),
  };
}

function failureOfClient({ code }: SdkError, reason: string): Failure {
  switch (code) {
    case SdkErrorCode.NotConnected:
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
    case SdkErrorCode.CapabilityNotSupported:
      return { kind: "not-sent", reason };
    case SdkErrorCode.RequestTimeout:
      return { kind: "unknown", reason: "it did not answer in time", isTimeout: true };
    case SdkErrorCode.UnsupportedResultType:
    case SdkErrorCode.InputRequiredRoundsExceeded:
      return { kind: "refused", reason: "the tool asks a person for more input, which can't be given here yet" };
    default:
      return { kind: "unknown", reason };
  }
}

/** For people and models: short, and without what a page of HTML says besides. */
export function reasonOf(error: unknown): string {
  const text = messageOf(error) || (error instanceof Error ? error.name : "it failed");
  return text
    .replace(/^Version negotiation(?: probe)? failed: /, "")
    .replaceAll(/<[^<>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, longest);
}

/** What became of one try of a call. */
export type CallAttemptOutcome = Failure | { readonly kind: "answer"; readonly result: ToolResult };

/** 401: a server is used as its user, who is not signed in there, or not any more. */
export class SignInNeeded extends ColloquyError {
  constructor(reason: string, options?: ErrorOptions) {
    super("sign_in_needed", 401, reason, options);
  }
}
