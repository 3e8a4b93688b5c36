import type { McpServers } from "../mcp-servers.ts";
import type { Revocation } from "./revoke.ts";
import type { OAuthCallback, SignIns } from "./sign-ins.ts";

/** Signing in and out with what it means for connections: they begin anew. */
export function createMcpSignIns(servers: McpServers, signIns: SignIns, base: () => string) {
  const begin = (server: string, userId: string) => signIns.begin(servers.named(server), userId);
  return {
    base,
    begin,
    states: servers.states,
    statesFor: servers.statesFor,
    beginByLink(ticket: string): Promise<string> {
      const { server, userId } = signIns.userOf(ticket);
      return begin(server, userId);
    },
    async finish(returned: OAuthCallback): Promise<string> {
      const { server, userId } = await signIns.finish(returned, servers.named);
      await servers.renew(server, userId);
      return server;
    },
    async forget(server: string, userId: string): Promise<Revocation> {
      const revocation = await signIns.forget(servers.named(server), userId);
      await servers.renew(server, userId);
      return revocation;
    },
  };
}
