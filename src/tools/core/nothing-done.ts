import { isConnectError } from "../../egress/connect-error.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";

/**
 * Throw this in a write that certainly did nothing: the call has failed, and nobody is asked. Any other error of a write
 * makes its outcome unknown.
 */
export class NothingDone extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "NothingDone";
  }
}

/** The guard's own, before it asks anybody. */
const refusals = ["address_refused", "url_refused"];
const maxCauses = 5;

/** Whether this says that nothing was done; `hasSent`: a request of the same call had left before. */
export function meansNothingDone(error: unknown, { hasSent }: { readonly hasSent: boolean }): boolean {
  if (error instanceof NothingDone) return true;
  if (hasSent) return false;
  let cause = error;
  for (let depth = 0; depth < maxCauses && cause instanceof Error; depth++, cause = cause.cause) {
    if (isConnectError(cause) || (cause instanceof ColloquyError && refusals.includes(cause.code))) return true;
  }
  return false;
}

/**
 * An HTTP status after which a write may have been done: a server that failed, or one in front of it that had enough. Even
 * 429, and 503 with `Retry-After`, are often said by what stands behind the effect. Other errors are answers: it was refused.
 */
export function isUnclearStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}
