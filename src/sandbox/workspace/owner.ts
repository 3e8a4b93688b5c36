import { chown, stat } from "node:fs/promises";
import type { SandboxCommand } from "../sandbox.ts";

/** The user that commands in a sandbox run as. It has no account on usual systems, and owns workspaces only. */
export const sandboxUser = { id: "65532" } as const;

/**
 * Owner that a workspace's files need so that commands can change them. A server that is root gives them to the sandbox's user,
 * by descriptor and never by a path that a command could redirect. Undefined: they stay the server's own.
 */
export const workspaceOwner: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: Number(sandboxUser.id), gid: Number(sandboxUser.id) } : undefined;

/** Gives the workspace's folder and the relay's socket to the sandbox's user before a command runs. Files belong to who creates them. */
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
