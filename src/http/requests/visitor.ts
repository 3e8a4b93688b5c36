import { NotFound } from "../../protocol/base/errors.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import type { Services } from "../server/services.ts";
import { whenClosed } from "../stream/sse.ts";
import type { LocalLogins } from "../../people/local-logins.ts";
import type { Accounts, LoginOrigin } from "../../people/accounts.ts";

/** Throws NotFound where nobody logs in: in local mode whoever sits at the machine is the owner. */
export function accountsOf({ access }: Services): Accounts {
  if (access.mode === "accounts" && access.accounts) return access.accounts;
  throw new NotFound("This server has no logins: auth.mode is not accounts.", { code: "no_login" });
}

/** Where somebody is logged in: with accounts, and in local mode the browsers that a link has let in. */
export function loginsOf(services: Services): Pick<Accounts, "sessions" | "endSession" | "endSessions"> {
  return localLoginsOf(services) ?? (services.access.mode === "local" ? noLogins : accountsOf(services));
}

const noLogins = { sessions: async () => [], endSession: async () => {}, endSessions: async () => {} };

/** Undefined where no link lets browsers in. */
export function localLoginsOf({ access }: Services): LocalLogins | undefined {
  return access.mode === "local" && access.owning !== "open" ? access.owning.logins : undefined;
}

/** Who asks, before anybody knows who it is. Its signal fires when the connection closes before the answer. */
export function visitorOf({ request, reply }: Pick<EndpointCall, "request" | "reply">): LoginOrigin {
  const abort = new AbortController();
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) abort.abort();
  });
  return { address: request.ip, program: request.headers["user-agent"] ?? "", signal: abort.signal };
}
