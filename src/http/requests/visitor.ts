import { NotFound } from "../../protocol/base/errors.ts";
import type { Call } from "../server/endpoint.ts";
import type { Services } from "../server/services.ts";
import { whenClosed } from "../stream/sse.ts";
import type { Accounts, Visitor } from "../../people/accounts.ts";

/** Throws NotFound where nobody logs in: in local mode whoever sits at the machine is the owner. */
export function accountsOf({ access }: Services): Accounts {
  if (access.mode === "accounts" && access.accounts) return access.accounts;
  throw new NotFound("Nobody logs in to this server: auth.mode is not accounts.", { code: "no_login" });
}

/** Who asks, before anybody knows who it is. Its signal fires when the connection closes before the answer. */
export function visitorOf({ request, reply }: Pick<Call, "request" | "reply">): Visitor {
  const abort = new AbortController();
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) abort.abort();
  });
  return { address: request.ip, program: request.headers["user-agent"] ?? "", signal: abort.signal };
}
