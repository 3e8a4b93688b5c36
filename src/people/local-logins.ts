import { createLink, linkToken, readLinkToken, removeOldLinks, useLink } from "../store/people/account-links.ts";
import type { Database } from "../store/driver/database.ts";
import { createLookupCache } from "../store/people/lookup-cache.ts";
import {
  createWebSession,
  endWebSession,
  endWebSessions,
  findWebSession,
  listWebSessions,
} from "../store/people/web-sessions.ts";
import { readSignedId, signedId } from "../store/secrets/signed-ids.ts";
import type { User } from "../store/people/users.ts";
import type { Accounts } from "./accounts.ts";

/** How browsers of this machine's owner come in where the kernel can't tell whose they are. Whoever calls has made sure of that. */
export type LocalLogins = Pick<Accounts, "findByToken" | "sessions" | "endSession" | "endSessions"> & {
  /** For a link, once, for ten minutes. */
  makeCode(): Promise<{ readonly code: string; readonly expiresAt: Date }>;
  /** A key for the browser that the link was opened in. Throws InvalidInput `link_over`. */
  enter(code: string, program: string): Promise<{ readonly token: string; readonly expiresAt: Date }>;
};

/** How such a key begins. */
export const browserKeyPrefix = "cb_";

const codeLifeMs = 10 * 60_000;
const purpose = "browser of the owner";

export function createLocalLogins(
  { query, transaction }: Database,
  { secret, owner, lifeMs }: { readonly secret: string; readonly owner: Pick<User, "id">; readonly lifeMs: number },
): LocalLogins {
  const memory = createLookupCache(async (token) => {
    const sessionId = readSignedId(secret, purpose, token.slice(browserKeyPrefix.length));
    const user = sessionId === undefined ? undefined : await findWebSession(query, sessionId);
    return user && sessionId !== undefined && user.id === owner.id ? { user, sessionId } : undefined;
  });
  return {
    async makeCode() {
      await removeOldLinks(query);
      const link = await createLink(query, { purpose: "open", lifeMs: codeLifeMs, userId: owner.id });
      return { code: linkToken(secret, link), expiresAt: link.expiresAt };
    },
    async enter(code, program) {
      const linkId = readLinkToken(secret, code, "open");
      const session = await transaction(async (within) => {
        await useLink(within, linkId, "open");
        return createWebSession(within, { userId: owner.id, label: program.slice(0, 200), lifeMs });
      });
      return { token: browserKeyPrefix + signedId(secret, purpose, session.id), expiresAt: session.expiresAt };
    },
    findByToken: memory.find,
    sessions: (userId) => listWebSessions(query, userId),
    async endSession(userId, sessionId) {
      await endWebSession(query, userId, sessionId);
      memory.forget();
    },
    async endSessions(userId, except) {
      await endWebSessions(query, userId, except);
      memory.forget();
    },
  };
}
