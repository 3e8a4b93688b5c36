/** How users are signed in to MCP servers: tokens, and sign-ins that have begun, both sealed. */
export const mcpCredentials = {
  name: "0007-mcp-credentials",
  up: `
create table mcp_credentials (
  user_id uuid not null references users on delete cascade,
  server text not null,
  login text,
  sign_in text,
  renewed_by timestamptz,
  primary key (user_id, server)
);
`,
} as const;
