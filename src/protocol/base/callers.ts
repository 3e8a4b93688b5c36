import { AccessDenied, type NotFound } from "./errors.ts";
import { matchesGlob } from "./glob.ts";
import {
  coverAdmin,
  isForAdmins,
  type RequiredScope,
  permissionsOf,
  type Scope,
  scopes,
  scopesFor,
  scopesOf,
  wordOf,
} from "./scopes.ts";

export type Role = "admin" | "user";

/** Who asks. Everything a run may do is cut by this. */
export type Caller = {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  /**
   * What it may do: `<kind>:<name>` of what may be granted, and whatever else tools demand; each may be a glob, and `*` is
   * everything. An API key with scopes has only those of its account that fit.
   */
  readonly permissions: readonly string[];
  readonly via: "local" | "api-key" | "session" | "system";
  /** All that it may do with them; absent: all that its account may. What is the account's own no scope lets it do. */
  readonly scopes?: readonly Scope[];
  /** What its key names, for what is done later in its name. */
  readonly words?: readonly string[];
  /** The key that it came in with. */
  readonly key?: string;
  /** It may touch only what was begun with this key. */
  readonly only?: string;
  /** Where it works in other systems, by the system's name, for this piece of work. */
  readonly elsewhere?: Readonly<Record<string, ExternalProject>>;
  /** It acts for somebody else in a room, and only for that. */
  readonly authority?: RoomAuthority;
  /** The root run that it works in; what it handed over to sign in elsewhere is kept with that. */
  readonly run?: string;
};

/** For whom somebody acts in a room, and why. Made by the rooms once they have looked whether that person may. */
export type RoomAuthority = {
  /** The room's thread. */
  readonly room: string;
  /** Whose run it is about. */
  readonly userId: string;
  readonly why: "stops what works in the room" | "decides for the room";
};

/** What a caller works on in another system, and as whom; never a secret. */
export type ExternalProject = {
  /** A project, as the system names it. */
  readonly place: string;
  /** A name for what it signs in with; absent: the operator's account there. */
  readonly as?: string;
};

/** What an account has now. */
export type Rights = Pick<Caller, "role" | "permissions">;

/** Kinds of things whose use groups grant and keys are cut to, each thing by its name. */
type GrantableKind = "agent" | "model" | "tool" | "collection" | "room";

/** A name or glob that a group may grant and a key may be cut to. People name collections and rooms as they like. */
export const permissionPattern =
  /^(?:[\w*][\w.:\/@*-]{0,127}|(?:collection|room):[^\s\p{Cc}](?:[^\p{Cc}]{0,198}[^\s\p{Cc}])?)$/u;

type Account = Rights & { readonly id: string; readonly name: string };

/** What an account may do, however it came in; with `words` only what they name ([scopes.ts](scopes.ts)). */
export function callerOf(user: Account, via: Caller["via"], words?: readonly string[]): Caller {
  const { id: userId, name, role, permissions } = user;
  const whole: Caller = { userId, name, role, permissions, via };
  return words ? { ...cutTo(whole, scopesOf(words, role), permissionsOf(words)), words } : whole;
}

/** The server itself, at work on all that is an account's. */
export function serverCaller(user: Account): Caller {
  return { ...callerOf(user, "system"), permissions: ["*"] };
}

/** What a key may that was made when its scopes named permissions only, and `admin`: all but what is the account's own. */
export function callerOfOldKey(user: Account, names: readonly string[]): Caller {
  const isAdmin = user.role === "admin" && coversAny(names, "admin");
  const held = scopes.filter((scope) => isAdmin || !isForAdmins(scope));
  return { ...cutTo(callerOf(user, "api-key"), held, names), words: names.map(wordOf) };
}

function cutTo(whole: Caller, held: readonly Scope[], names: readonly string[]): Caller {
  const role = whole.role === "admin" && coverAdmin(held) ? "admin" : "user";
  return { ...whole, role, permissions: inBoth(names, whole.permissions), scopes: held };
}

/** Whether this is somebody on this machine who is let ask as a guest, and nothing else. */
export function isAsker({ via, scopes: held }: Pick<Caller, "via" | "scopes">): boolean {
  return via === "local" && held !== undefined;
}

/** Whether a caller may do this, of what its account may. */
export function hasScope(
  { role, scopes: held, key }: Pick<Caller, "role" | "scopes" | "key">,
  needs: RequiredScope,
): boolean {
  if (needs === "nothing") return true;
  if (needs === "account" && key !== undefined) return false;
  if (!held) return role === "admin" || !isForAdmins(needs);
  return scopesFor(needs).some((scope) => held.includes(scope));
}

/**
 * The caller, as far as this is for it: whole, or held to what its key began; undefined: it may not at all. Whoever asks in a
 * conversation hears what was said in it, so that asking too is held to a key's own, unless it may write in all. All that guests
 * have was begun by asking.
 */
export function restrictTo(caller: Caller, needs: RequiredScope): Caller | undefined {
  const { only: _, ...whole } = caller;
  const isOpenToOwn = typeof needs !== "string" && needs.includes("own");
  if (isAsker(caller) && isOpenToOwn) return whole;
  const isOwn = caller.scopes?.includes("ask") === true && caller.key !== undefined;
  if (needs === "ask" && isOwn && !hasScope(whole, "threads:write")) return { ...whole, only: caller.key! };
  if (hasScope(whole, needs)) return whole;
  return isOwn && isOpenToOwn ? { ...whole, only: caller.key! } : undefined;
}

/** Whose runs a caller may stop and decide on; undefined: everybody's. */
export function controllableRuns({
  role,
  userId,
  authority,
}: Pick<Caller, "role" | "userId" | "authority">): string | undefined {
  if (authority) return authority.userId;
  return role === "admin" ? undefined : userId;
}

/** The caller of a request that needs the rights of an admin in one area: there it is one, whatever its account is elsewhere. */
export function asAreaAdmin(caller: Caller): Caller {
  return { ...caller, role: "admin" };
}

/** Why something is not there for this caller: the same, whether it is not there at all or is not its key's own. */
export function hiddenError({ only }: Pick<Caller, "only">, absent: NotFound): NotFound | AccessDenied {
  if (only === undefined) return absent;
  return new AccessDenied(
    403,
    "This API key did not start it. To access what else the account started, the key needs the scope threads:read or threads:write.",
    { code: "insufficient_scope" },
  );
}

/** A caller of earlier with the rights the account has now: never more than then, never more than now. */
export function intersectRights(caller: Caller, now: Rights): Caller {
  return {
    ...caller,
    role: caller.role === "admin" ? now.role : "user",
    permissions: inBoth(caller.permissions, now.permissions),
  };
}

/** Whether a caller holds all of the permissions. */
export function hasPermissions({ permissions }: Pick<Caller, "permissions">, wanted: readonly string[]): boolean {
  return wanted.every((name) => coversAny(permissions, name));
}

/** Whether a caller may use the thing of this name; with the name `*`, all of the kind. */
export function mayUse(caller: Pick<Caller, "permissions">, kind: GrantableKind, name: string): boolean {
  return hasPermissions(caller, [`${kind}:${name}`]);
}

function coversAny(permissions: readonly string[], name: string): boolean {
  return permissions.some((held) => matchesGlob(held, name));
}

/** Of two globs that only overlap nothing is left: rather too little than too much. */
function inBoth(some: readonly string[], others: readonly string[]): readonly string[] {
  const kept = [...some.filter((name) => coversAny(others, name)), ...others.filter((name) => coversAny(some, name))];
  return [...new Set(kept)];
}
