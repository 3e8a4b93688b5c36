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

/** Whether a caller holds all of the permissions. */
export function holds(caller: Caller, permissions: readonly string[]): boolean {
  return caller.permissions.includes("*") || permissions.every((name) => caller.permissions.includes(name));
}
