import { ColloquyError, AccessDenied, InvalidInput } from "../protocol/base/errors.ts";
import { type AccountLink, linkToken, readLinkToken, removeResets, useLink } from "../store/people/account-links.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Database } from "../store/driver/database.ts";
import { addMember } from "../store/people/groups.ts";
import { addFailure, blockedSeconds, forgetFailures, type LoginSubject } from "../store/people/login-failures.ts";
import { createLookupCache } from "../store/people/lookup-cache.ts";
import { claimOwner, createUser, existingUser, findPassword, setPassword, type User } from "../store/people/users.ts";
import {
  createWebSession,
  endWebSession,
  endWebSessions,
  findWebSession,
  listWebSessions,
  type WebSession,
} from "../store/people/web-sessions.ts";
import { networkOf } from "./network.ts";
import type { OidcLogin } from "./oidc.ts";
import type { Passwords } from "./passwords.ts";
import type { Tokens } from "./tokens.ts";

/** From where somebody comes in. */
export type LoginOrigin = {
  readonly address: string;
  /** What their browser or program calls itself. */
  readonly program: string;
  readonly signal: AbortSignal;
};

/** A login that has begun; the token is told this once. */
export type AccountLogin = { readonly user: User; readonly token: string; readonly expiresAt: Date };

export type PasswordCredentials = { readonly name: string; readonly password: string };
export type SignupRule = "open" | "invite" | "closed";

/** How people come in with passwords and links. Whoever calls these has made sure who the user is. */
export type Accounts = {
  readonly signup: SignupRule;
  /** Absent: nobody logs in through an identity provider. */
  readonly oidc?: OidcLogin;
  /** Makes the first admin of the owner's account. Throws InvalidInput `link_over`. */
  setUp(first: PasswordCredentials & { readonly token: string }, visitor: LoginOrigin): Promise<AccountLogin>;
  /** Throws AccessDenied `signup_closed`, and Conflict `user_exists`. */
  signUp(
    input: PasswordCredentials & { readonly invite?: string | undefined },
    visitor: LoginOrigin,
  ): Promise<AccountLogin>;
  /** Throws AccessDenied: the same for a wrong password and an unknown name. `too_many_tries` after several. */
  logIn(credentials: PasswordCredentials, visitor: LoginOrigin): Promise<AccountLogin>;
  /** For a user whom somebody else vouches for. */
  begin(user: User, visitor: Pick<LoginOrigin, "program">): Promise<AccountLogin>;
  /** Undefined for a token that doesn't count, or no more. A disabled user is told as such. */
  findByToken(token: string): Promise<{ readonly user: User; readonly sessionId: string } | undefined>;
  /** All other logins of the user end. */
  changePassword(
    change: {
      readonly user: Pick<User, "id" | "name">;
      readonly current: string;
      readonly password: string;
      readonly sessionId?: string | undefined;
    },
    visitor: LoginOrigin,
  ): Promise<void>;
  /** By a link; all logins of the user end. */
  resetPassword(reset: { readonly token: string; readonly password: string }, visitor: LoginOrigin): Promise<void>;
  sessions(userId: string): Promise<readonly WebSession[]>;
  endSession(userId: string, sessionId: string): Promise<void>;
  endSessions(userId: string, except?: string): Promise<void>;
  /** What is remembered of tokens is asked again, after a change of a user. */
  forget(): void;
  /** The secret part of a link. */
  tokenOf(link: Pick<AccountLink, "id" | "purpose">): string;
};

export type AccountsOptions = {
  readonly secret: string;
  readonly signup: SignupRule;
  readonly tokenLifeMs: number;
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly oidc?: OidcLogin;
  /** Called when logins have ended: what is remembered of them anywhere is to be forgotten, by `forget` here. */
  readonly changed?: () => void;
};

export function createAccounts({ query, transaction }: Database, options: AccountsOptions): Accounts {
  const { secret, signup, passwords, tokens, oidc, tokenLifeMs } = options;
  const memory = createLookupCache(async (token) => {
    const content = await tokens.read(token);
    const user = content && (await findWebSession(query, content.sessionId));
    return user && { user, ...content };
  });

  const { changed = memory.forget } = options;

  async function begin(user: User, { program }: Pick<LoginOrigin, "program">): Promise<AccountLogin> {
    const label = program.slice(0, 200);
    const { id, expiresAt } = await createWebSession(query, { userId: user.id, label, lifeMs: tokenLifeMs });
    return { user, token: await tokens.sign({ sessionId: id, userId: user.id, expiresAt }), expiresAt };
  }

  /** Whether the password is this account's, with all that keeps others from trying them out. */
  async function check({ name, password }: PasswordCredentials, { address, signal }: LoginOrigin): Promise<User> {
    const suspects = suspectsOf(name, address);
    const known = await findPassword(query, name);
    const fits = await passwords.verify(
      { password, hash: known?.hash, first: () => refuseBlocked(query, suspects) },
      signal,
    );
    if (!fits || !known) {
      await addFailure(query, Object.values(suspects));
      throw new AccessDenied(401, "Wrong name or password.", { code: "wrong_login" });
    }
    await forgetFailures(query, [suspects.here, suspects.name]);
    if (known.user.disabled) throw new AccessDenied(401, "This account is disabled.", { code: "account_disabled" });
    return known.user;
  }

  return {
    signup,
    ...(oidc && { oidc }),
    begin,
    async findByToken(token) {
      const found = await memory.find(token);
      // What is remembered may be over meanwhile.
      return found && found.expiresAt > new Date() ? found : undefined;
    },
    forget: memory.forget,

    async setUp({ token, name, password }, visitor) {
      const id = readLinkToken(secret, token, "setup");
      const passwordHash = await passwords.hash(password, visitor.signal);
      const user = await transaction(async (within) => {
        await useLink(within, id, "setup");
        return claimOwner(within, { name, passwordHash });
      });
      return begin(user, visitor);
    },

    async signUp({ name, password, invite }, visitor) {
      const linkId = await invitation(options, invite);
      const newcomer: LoginSubject = { kind: "signup", value: networkOf(visitor.address), free: 20 };
      await refuseBlocked(query, { newcomer });
      await addFailure(query, [newcomer]);
      const passwordHash = await passwords.hash(password, visitor.signal);
      const user = await transaction(async (within) => {
        const link = linkId === undefined ? undefined : await useLink(within, linkId, "invite");
        const { id } = await createUser(within, { name, role: link?.role ?? "user", passwordHash });
        for (const group of link?.groups ?? []) await addMember(within, group, id);
        return existingUser(within, id);
      });
      return begin(user, visitor);
    },

    logIn: async (credentials, visitor) => begin(await check(credentials, visitor), visitor),

    async changePassword({ user, current, password, sessionId }, visitor) {
      await check({ name: user.name, password: current }, visitor);
      if (current === password)
        throw new InvalidInput("The new password must differ from the old one.", {
          code: "same_password",
          param: "password",
        });
      const passwordHash = await passwords.hash(password, visitor.signal);
      await transaction(async (within) => {
        await setPassword(within, user.id, passwordHash);
        await removeResets(within, user.id);
        await endWebSessions(within, user.id, sessionId);
      });
      changed();
    },

    async resetPassword({ token, password }, { address, signal }) {
      const id = readLinkToken(secret, token, "reset");
      const passwordHash = await passwords.hash(password, signal);
      const name = await transaction(async (within) => {
        const { userId } = await useLink(within, id, "reset");
        await setPassword(within, userId!, passwordHash);
        await endWebSessions(within, userId!);
        return (await existingUser(within, userId!)).name;
      });
      const { here, name: everywhere } = suspectsOf(name, address);
      await forgetFailures(query, [here, everywhere]);
      changed();
    },

    sessions: (userId) => listWebSessions(query, userId),
    async endSession(userId, sessionId) {
      await endWebSession(query, userId, sessionId);
      changed();
    },
    async endSessions(userId, except) {
      await endWebSessions(query, userId, except);
      changed();
    },
    tokenOf: (link) => linkToken(secret, link),
  };
}

async function refuseBlocked(query: Query, suspects: Readonly<Record<string, LoginSubject>>): Promise<void> {
  const seconds = await blockedSeconds(query, Object.values(suspects));
  if (seconds > 0)
    throw new ColloquyError("too_many_tries", 429, `Too many tries that failed; wait ${seconds} seconds.`, {
      retryAfterSeconds: seconds,
    });
}

/** The invitation that a sign-up needs; undefined: none. Throws AccessDenied. */
async function invitation(
  { secret, signup }: Pick<AccountsOptions, "secret" | "signup">,
  token: string | undefined,
): Promise<string | undefined> {
  if (token !== undefined && signup !== "closed") return readLinkToken(secret, token, "invite");
  if (signup === "open") return undefined;
  throw new AccessDenied(
    403,
    signup === "closed" ? "This server takes no new accounts." : "An invitation is needed here.",
    {
      code: "signup_closed",
    },
  );
}

/**
 * Few tries for one name from one place, more from one place for any names, and more for one name from everywhere: guessing
 * leads nowhere, and who guesses from one place locks out only himself.
 */
function suspectsOf(name: string, address: string): Record<"here" | "address" | "name", LoginSubject> {
  const [who, where] = [name.toLowerCase(), networkOf(address)];
  return {
    here: { kind: "here", value: `${who}\0${where}`, free: 5 },
    address: { kind: "address", value: where, free: 50 },
    name: { kind: "name", value: who, free: 100 },
  };
}
