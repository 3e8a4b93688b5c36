import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A socket asks it right before it connects, and fails with ERR_IP_BLOCKED without asking the system. */
const blockList = { check: (address: string) => address !== "::1" && !address.startsWith("127.") };

/**
 * Until the end of the test no connection leaves this machine. Returns the addresses that sockets were about to connect to,
 * so that a test can show where a request would go without sending it.
 */
export function letNothingOut(context: TestContext): Set<string> {
  const tried = new Set<string>();
  const hold = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    Object.assign(socket, { blockList });
    const note = (address: string) => isIP(address) !== 0 && tried.add(address);
    // Of one address the first is told, of several the second for each.
    socket.on("connectionAttempt", note);
    socket.on("connectionAttemptFailed", note);
  };
  subscribe("net.client.socket", hold);
  context.after(() => unsubscribe("net.client.socket", hold));
  return tried;
}
