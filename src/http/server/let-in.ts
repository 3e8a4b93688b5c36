import { asAdminHere, type Caller, heldTo, isAsker } from "../../protocol/base/callers.ts";
import { AccessDenied } from "../../protocol/base/errors.ts";
import { isForAdmins, type RequiredScope, scopesFor } from "../../protocol/base/scopes.ts";

/**
 * Who does what needs this: the caller, maybe held to its key's own, or AccessDenied (403) is thrown. A key that may do an admin's work in one area is an admin
 * there, and nowhere else.
 */
export function letIn(caller: Caller, needs: RequiredScope): Caller {
  const held = heldTo(caller, needs);
  if (held) return isForAdmins(needs) ? asAdminHere(held) : held;
  if (isAsker(caller))
    throw new AccessDenied(
      403,
      "Only the owner of this server can do this. To manage it from this browser, run `./colloquy open`.",
      {
        code: "owner_needed",
      },
    );
  if (needs === "account")
    throw new AccessDenied(403, "API keys can't change the account. Log in instead.", {
      code: "key_scoped",
    });
  if (!caller.scopes) throw new AccessDenied(403, "Only an admin may do this.");
  throw new AccessDenied(403, `This needs the scope ${scopesFor(needs).join(" or ")}, which the key does not have.`, {
    code: "insufficient_scope",
  });
}

/** What changes how an admin comes in, or takes an admin's data along, is for an admin who has logged in: no key reaches further than it names. */
export function letInFor(caller: Caller, role: Caller["role"] | undefined): void {
  if (role === "admin") letIn(caller, "account");
}
