export type Role = "admin" | "user";

/** Who asks. Everything a run may do is cut by this. */
export type Caller = {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  /** `*` or names; a tool's `permissions` must all be among them. */
  readonly permissions: readonly string[];
  readonly via: "local" | "api-key" | "session" | "system";
  /** Where it works in other systems, by the system's name, for this piece of work. */
  readonly elsewhere?: Readonly<Record<string, Standing>>;
  /** The root run that it works in; what it handed over to sign in elsewhere is kept with that. */
  readonly run?: string;
};

/** What a caller works on in another system, and as whom; never a secret. */
export type Standing = {
  /** A project, as the system names it. */
  readonly place: string;
  /** A name for what it signs in with; absent: the operator's account there. */
  readonly as?: string;
};

/** What an account may do, however it came in. */
export function callerOf(
  user: { readonly id: string; readonly name: string; readonly role: Role },
  via: Caller["via"],
): Caller {
  return { userId: user.id, name: user.name, role: user.role, permissions: user.role === "admin" ? ["*"] : [], via };
}

/** A caller of earlier with the rights the account has now: never more than then, never more than now. */
export function cutBack(caller: Caller, role: Role): Caller {
  const { elsewhere, run } = caller;
  const now: Caller = {
    ...callerOf({ id: caller.userId, name: caller.name, role }, caller.via),
    ...(elsewhere ? { elsewhere } : {}),
    ...(run === undefined ? {} : { run }),
  };
  if (caller.permissions.includes("*")) return now;
  return { ...now, permissions: caller.permissions.filter((name) => holds(now, [name])) };
}

/** Whether a caller holds all of the permissions. */
export function holds(caller: Caller, permissions: readonly string[]): boolean {
  return caller.permissions.includes("*") || permissions.every((name) => caller.permissions.includes(name));
}
