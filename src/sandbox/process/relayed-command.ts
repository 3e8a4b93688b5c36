import { join } from "node:path";
import type { Mount, SandboxCommand } from "../sandbox.ts";

const folder = "/run/colloquy";
const [node, runner, socket] = [`${folder}/node`, `${folder}/relay-runner.mjs`, `${folder}/relay.sock`] as const;

/** Files a relay needs mounted, besides its socket: this server's Node.js and a small program. */
export const relayMounts: readonly Mount[] = [
  { source: process.execPath, target: node },
  { source: join(import.meta.dirname, "relay-runner.mjs"), target: runner },
];
export const relayNode = node;

/**
 * Wraps a command that has a relay: its one way to an address outside of the sandbox, a unix socket of this server that it
 * reaches as `127.0.0.1:<port>`. `relay-runner.mjs` listens on that port, forwards to the socket, and runs the command.
 */
export function relayedCommand(command: SandboxCommand): SandboxCommand {
  const { relay, argv, mounts = [] } = command;
  if (!relay) return command;
  return {
    ...command,
    argv: [node, runner, socket, String(relay.port), ...argv],
    mounts: [...mounts, ...relayMounts, { source: relay.socket, target: socket }],
  };
}
