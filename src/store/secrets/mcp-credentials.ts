import type { Query } from "../../protocol/agents/tools.ts";
import { seal, unseal } from "./seal.ts";

/** Credentials' owner: one user at one server. Values sealed for one address don't open for another. */
export type CredentialPlace = { readonly userId: string; readonly server: string; readonly url: string };
export type McpCredentials = ReturnType<typeof createMcpCredentials>;

/** Longer than an exchange of tokens takes. */
const leaseSeconds = 60;

/** How users are signed in to MCP servers, sealed with the server's secret. */
export function createMcpCredentials(query: Query, secret: string) {
  const about = ({ userId, server, url }: CredentialPlace, what: string) => `mcp ${what} ${userId} ${server} ${url}`;
  const opened = (place: CredentialPlace, what: string, sealed: string | null | undefined) =>
    sealed ? unseal(secret, sealed, about(place, what)) : undefined;

  return {
    /** Undefined: the user is not signed in. */
    async login(place: CredentialPlace): Promise<string | undefined> {
      const [row] = await query<{ login: string | null }>(
        "select login from mcp_credentials where user_id = $1 and server = $2",
        [place.userId, place.server],
      );
      return opened(place, "login", row?.login);
    },

    async saveLogin(place: CredentialPlace, text: string): Promise<void> {
      await query(
        `insert into mcp_credentials (user_id, server, login) values ($1, $2, $3)
         on conflict (user_id, server) do update set login = excluded.login, renewed_by = null`,
        [place.userId, place.server, seal(secret, text, about(place, "login"))],
      );
    },

    /**
     * Takes the token to exchange for a new login, for this caller only: a server may treat a second exchange as theft.
     * Undefined: there is none, or another caller is exchanging it.
     */
    async takeForRenewal(
      place: CredentialPlace,
    ): Promise<{ readonly text: string; readonly sealed: string } | undefined> {
      const [row] = await query<{ login: string }>(
        `update mcp_credentials set renewed_by = now() + interval '${leaseSeconds} seconds'
         where user_id = $1 and server = $2 and login is not null and (renewed_by is null or renewed_by < now())
         returning login`,
        [place.userId, place.server],
      );
      const text = opened(place, "login", row?.login);
      return row && text !== undefined ? { text, sealed: row.login } : undefined;
    },

    /** Ends the renewal: with a new login, none (it counts no more), or the old one. Not if the user has signed in or out since. */
    async endRenewal(place: CredentialPlace, before: string, renewed: string | null | "unchanged"): Promise<void> {
      const login =
        renewed === "unchanged" ? before : renewed === null ? null : seal(secret, renewed, about(place, "login"));
      await query(
        "update mcp_credentials set login = $4, renewed_by = null where user_id = $1 and server = $2 and login = $3",
        [place.userId, place.server, before, login],
      );
    },

    /** In place of one that had begun before. */
    async saveSignIn(place: CredentialPlace, text: string): Promise<void> {
      await query(
        `insert into mcp_credentials (user_id, server, sign_in) values ($1, $2, $3)
         on conflict (user_id, server) do update set sign_in = excluded.sign_in`,
        [place.userId, place.server, seal(secret, text, about(place, "sign-in"))],
      );
    },

    /** Only once. */
    async takeSignIn(place: CredentialPlace): Promise<string | undefined> {
      const [row] = await query<{ sign_in: string | null }>(
        `with before as (
           select user_id, server, sign_in from mcp_credentials where user_id = $1 and server = $2 for update)
         update mcp_credentials now set sign_in = null from before
         where now.user_id = before.user_id and now.server = before.server
         returning before.sign_in`,
        [place.userId, place.server],
      );
      return opened(place, "sign-in", row?.sign_in);
    },

    async forget({ userId, server }: Pick<CredentialPlace, "userId" | "server">): Promise<void> {
      await query("delete from mcp_credentials where user_id = $1 and server = $2", [userId, server]);
    },
  };
}
