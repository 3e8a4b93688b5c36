import { matchesGlob } from "./glob.ts";

/** What one can be let do, apart from which agents, models, tools, collections and rooms one may do it with. */
export const scopes = [
  /** Ask agents, models and tools, and hear what one's own request caused. */
  "ask",
  "threads:list",
  /** A thread or room by its id: its items, files and runs. */
  "threads:read",
  /** Make and change them and their files, decide on questions, steer and cancel. */
  "threads:write",
  "threads:share",
  "threads:delete",
  "tasks:read",
  "tasks:write",
  "schedules:read",
  "schedules:write",
  "files:read",
  "files:write",
  "knowledge:read",
  "knowledge:write",
  "knowledge:delete",
  "usage:read",
  "admin:audit",
  "admin:definitions",
  "admin:runs",
  "admin:settings",
  "admin:usage",
  "admin:users",
] as const;

export type Scope = (typeof scopes)[number];

/**
 * What a request needs of its caller. `nothing`: whoever may come in at all. `account`: keys, logins and what is personal,
 * which no scope lets do. Of a list one is enough; `own` in it lets a key that may ask touch what it began itself.
 */
export type RequiredScope = "nothing" | "account" | Scope | readonly (Scope | "own")[];

/** What is open to everybody on this machine, in an account that is not the owner's. */
export const askerScopes: readonly string[] = ["ask", "tasks:read", "tasks:write"];

/** A word of a key, or a glob. People name collections and rooms as they like. */
export const wordPattern =
  /^(?:[\w*][\w.:\/@*-]{0,127}|(?:collections?|rooms?):[^\s\p{Cc}](?:[^\p{Cc}]{0,198}[^\s\p{Cc}])?)$/u;

/** The kinds of things that are named in the words of a key, each as permissions call it. */
const grantedKinds: Readonly<Record<string, string>> = {
  agents: "agent",
  models: "model",
  tools: "tool",
  collections: "collection",
  rooms: "room",
};

/** How keys were cut when there were permissions only. */
const oldKinds: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(grantedKinds).map(([kind, permission]) => [permission, kind]),
);

const isAdminScope = (scope: string): boolean => scope.startsWith("admin:");

/** What the words of a key let do: each a scope, a glob of them, or `<kind>:<name>`, which lets ask. */
export function scopesOf(words: readonly string[], role: "admin" | "user"): readonly Scope[] {
  const asks = words.some((word) => permissionOf(word) !== undefined);
  return scopes.filter(
    (scope) =>
      (role === "admin" || !isAdminScope(scope)) &&
      ((scope === "ask" && asks) || words.some((word) => matchesGlob(word, scope))),
  );
}

/** Which things the words let ask: those that they name, or, with `ask`, all that there are for the account. */
export function permissionsOf(words: readonly string[]): readonly string[] {
  if (words.some((word) => matchesGlob(word, "ask"))) return ["*"];
  const named = words.flatMap((word) => permissionOf(word) ?? (isScope(word) ? [] : word));
  // Who names no collection means all of them.
  const isForAll =
    words.some((word) => word.startsWith("knowledge:")) && !words.some((word) => /^collections:/u.test(word));
  return isForAll ? [...named, "collection:*"] : named;
}

/** A word as it is said today: `agent:coder` is `agents:coder`, `admin` is `admin:*`. */
export function wordOf(text: string): string {
  if (text === "admin") return "admin:*";
  const [, kind = "", name] = /^([a-z]+):(.+)$/su.exec(text) ?? [];
  return Object.hasOwn(oldKinds, kind) ? `${oldKinds[kind]}:${name}` : text;
}

/** Whether a word says something: a scope, a glob of some, a kind of thing by its name, or a permission that tools `demand`. */
export function isWord(text: string, demanded: readonly string[]): boolean {
  return isScope(text) || permissionOf(text) !== undefined || demanded.some((name) => matchesGlob(text, name));
}

/** The words that say what `things` are called, each as permissions call it: of `agent:coder`, `agents:coder`. */
export function wordsFor(things: readonly string[]): readonly string[] {
  const kinds = scopes.filter((scope) => scope.includes(":")).map((scope) => scope.split(":", 1)[0]!);
  const globs = new Set([...kinds, ...Object.keys(grantedKinds)].map((kind) => `${kind}:*`));
  return [...scopes, ...globs, ...things.map(wordOf)];
}

function isScope(word: string): boolean {
  return scopes.some((scope) => matchesGlob(word, scope));
}

/** `agents:coder` is the permission `agent:coder`. */
function permissionOf(word: string): string | undefined {
  const [, kind = "", name] = /^([a-z]+):(.+)$/su.exec(word) ?? [];
  return Object.hasOwn(grantedKinds, kind) ? `${grantedKinds[kind]}:${name}` : undefined;
}

/** Whether these scopes are every area of the admins'. */
export function coverAdmin(held: readonly Scope[]): boolean {
  return scopes.filter(isAdminScope).every((scope) => held.includes(scope));
}

/** Which scopes a request can be let in by; with none, no scope lets it in. */
export function scopesFor(needs: RequiredScope): readonly Scope[] {
  if (typeof needs !== "string") return needs.filter((need) => need !== "own");
  return needs === "nothing" || needs === "account" ? [] : [needs];
}

/** Whether only admins may at all. */
export function isForAdmins(needs: RequiredScope): boolean {
  return typeof needs === "string" && isAdminScope(needs);
}
