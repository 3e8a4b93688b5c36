import { join } from "node:path";
import type { Mount, SandboxCommand } from "../sandbox.ts";

const folder = "/run/colloquy";
const [node, runner, socket] = [`${folder}/node`, `${folder}/relay-runner.mjs`, `${folder}/relay.sock`] as const;

/** What a relay takes beside its socket: this server's Node.js and a small program. */
export const relayMounts: readonly Mount[] = [
  { source: process.execPath, target: node },
  { source: join(import.meta.dirname, "relay-runner.mjs"), target: runner },
];
export const relayNode = node;

/** A command with a relay is started by a small program that listens for it. */
export function relayedCommand(command: SandboxCommand): SandboxCommand {
  const { relay, argv, mounts = [] } = command;
  if (!relay) return command;
  return {
    ...command,
    argv: [node, runner, socket, String(relay.port), ...argv],
    mounts: [...mounts, ...relayMounts, { source: relay.socket, target: socket }],
  };
}
