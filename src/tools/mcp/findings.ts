import type { McpServerState } from "../../protocol/mcp-servers.ts";

/** What `colloquy doctor` says of a server. One that is away may come back by itself, so it is no trouble. */
export function findingOf(server: McpServerState): { grade: "ok" | "note"; about: string; text: string } {
  const { name, transport, target, state, reason, tools, tokens, unusable } = server;
  const offer =
    tools === 0 ? "" : `, ${tools === 1 ? "1 tool" : `${tools} tools`} (about ${tokens} tokens in a prompt)`;
  const left =
    unusable.length === 0
      ? ""
      : `; not usable: ${unusable.map(({ tool, reason: why }) => `${tool} (${why})`).join(", ")}`;
  const text = `${name} (${transport}, ${target}): ${state}${reason === undefined ? "" : `, ${reason}`}${offer}${left}`;
  return { grade: state === "failed" || unusable.length > 0 ? "note" : "ok", about: "mcp", text };
}
