/** Who commands in a sandbox are. It has no account on usual systems, and owns nothing but workspaces. */
export const sandboxUser = { id: "65532" } as const;

/**
 * Whose the files of a workspace must be so that commands can change them: a server that is root gives theirs to the
 * sandbox's user (by the descriptor, never by a path that a command could bend). Undefined: the server's own.
 */
export const workspaceOwner: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: Number(sandboxUser.id), gid: Number(sandboxUser.id) } : undefined;
import { chown, stat } from "node:fs/promises";
import type { SandboxCommand } from "../sandbox.ts";

/** Before a command runs as the sandbox's user: the folder itself and the socket become that user's; files follow their makers. */
export async function giveToSandboxUser({
  workspace,
  relay,
}: Pick<SandboxCommand, "workspace" | "relay">): Promise<void> {
  if (!workspaceOwner) return;
  const { uid, gid } = workspaceOwner;
  for (const path of [workspace, ...(relay ? [relay.socket] : [])]) {
    if ((await stat(path)).uid !== uid) await chown(path, uid, gid);
  }
}
