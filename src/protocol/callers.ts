export type Role = "admin" | "user";

/** Who asks. Everything a run may do is cut by this. */
export type Caller = {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  /** `*` or names; a tool's `permissions` must all be among them. */
  readonly permissions: readonly string[];
  readonly via: "local" | "api-key" | "session" | "system";
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
  const now = callerOf({ id: caller.userId, name: caller.name, role }, caller.via);
  if (caller.permissions.includes("*")) return now;
  return { ...now, permissions: caller.permissions.filter((name) => holds(now, [name])) };
}

/** Whether a caller holds all of the permissions. */
export function holds(caller: Caller, permissions: readonly string[]): boolean {
  return caller.permissions.includes("*") || permissions.every((name) => caller.permissions.includes(name));
}
