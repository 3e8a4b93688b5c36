import { t } from "@lingui/core/macro";

export const addNames = { models: t`Connect a model`, agents: t`New agent`, "mcp-servers": t`Add an MCP server` };

export const sourceNames = {
  environment: t`the environment`,
  file: t`a file`,
  database: t`here`,
  found: t`discovered at startup`,
  "built-in": t`built in`,
};

export const sectionNames = {
  usage: t`Usage`,
  models: t`Models`,
  agents: t`Agents`,
  "mcp-servers": t`MCP servers`,
  runs: t`Runs`,
  people: t`People`,
  groups: t`Groups`,
  budgets: t`Budgets`,
  retention: t`Retention`,
  audit: t`Audit log`,
  settings: t`Settings`,
  doctor: t`Doctor`,
};

export const reachNames = {
  "this machine": t`on this machine`,
  "private network": t`in the private network`,
  internet: t`on the internet`,
};
