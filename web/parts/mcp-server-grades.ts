import type { McpServerState } from "../../src/protocol/agents/mcp-servers.ts";
import type { Grade } from "./grade.ts";

/** How the state of a server of tools is shown. */
export const mcpServerGrades: Readonly<Record<McpServerState["state"], Grade>> = {
  idle: "quiet",
  connecting: "quiet",
  ready: "ok",
  failed: "bad",
  "sign-in needed": "warn",
  disabled: "quiet",
};

/** Nobody configured it, and nothing listens where it would be. */
export const isAway = ({ state, isDefault }: McpServerState): boolean => state === "idle" && isDefault === true;
