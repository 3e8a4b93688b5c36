import { t } from "@lingui/core/macro";
import { createClient } from "../../src/client/client.ts";
import { ColloquyError, Unavailable } from "../../src/protocol/base/errors.ts";
import { forgetOwnerKey, ownerKey } from "./owner-key.ts";

/** Below which the server stands, as the page was told: with `/` at its end. */
export const base = new URL(document.baseURI).pathname;

/** The server that gave out this page, asked as whoever is logged in here. */
export const server = {
  url: new URL(base, location.origin).href,
  headers: { "x-colloquy-page": "1" },
  get token() {
    return ownerKey();
  },
};
export const client = createClient(server);

/** Whoever must log in first is sent there; anything else is for a person to read. */
export function reasonOf(error: unknown): string {
  if (error instanceof ColloquyError && error.status === 401 && !isOfSomethingElse(error)) {
    if (!forgetOwnerKey()) location.assign(`${base}login`);
    return t`You're not logged in.`;
  }
  // What a browser says of it is in its own jargon.
  if (error instanceof Unavailable && error.code === "unreachable") return t`Can't reach the server.`;
  if (error instanceof ColloquyError && error.code === "too_many_streams")
    return t`Too many open tabs: live updates are paused. Close some tabs of this page, then reload it.`;
  return error instanceof Error ? error.message : String(error);
}

/** A login that another system refused, or a password that was asked for once more, is not the login here. */
function isOfSomethingElse({ code }: ColloquyError): boolean {
  return code === "wrong_login" || code.startsWith("taiga_");
}
