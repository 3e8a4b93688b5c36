import { chown, stat } from "node:fs/promises";
import type { SandboxCommand } from "./sandbox.ts";
import { workspaceOwner } from "./workspace-owner.ts";

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
