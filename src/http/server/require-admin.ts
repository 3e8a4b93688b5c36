import type { Caller } from "../../protocol/base/callers.ts";
import { Denied } from "../../protocol/base/errors.ts";

/** Throws Denied (403) for anybody else. */
export function requireAdmin(caller: Caller): void {
  if (caller.role !== "admin") throw new Denied(403, "Only an admin may do this.");
}
