/** A connection that could not be made: surely before anything was sent. What is not listed may have been after it. */
export function isConnectError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "", syscall = "" } = error as { readonly code?: string; readonly syscall?: string };
  return (
    syscall === "connect" ||
    syscall === "getaddrinfo" ||
    /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(
      code,
    ) ||
    (error instanceof AggregateError && error.errors.every(isConnectError))
  );
}
