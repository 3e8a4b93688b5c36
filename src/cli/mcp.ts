import { connect, findServer } from "./connect.ts";
import { outputClosed } from "./closed-pipe.ts";
import { bridgeMcp } from "../client/mcp-bridge.ts";
import { stopSignal } from "./stop-signal.ts";
import { loadConfig } from "../config/load.ts";

/**
 * `colloquy mcp`: run as an MCP server over standard input and output. What is said goes to the server that runs, or to
 * one started here until the input ends; standard output carries the protocol and nothing else.
 */
export async function serveMcp(): Promise<number> {
  const config = loadConfig();
  const { server, close } = await connect(config, { runsJobs: true });
  try {
    void stopSignal().then(() => process.stdin.destroy());
    outputClosed.addEventListener("abort", () => process.stdin.destroy());
    let isFirst = true;
    const locate = async () => {
      const known = isFirst ? server : ((await findServer(config)) ?? server);
      isFirst = false;
      return known;
    };
    await bridgeMcp({ locate, input: process.stdin, output: process.stdout });
  } finally {
    await close();
  }
  return 0;
}
