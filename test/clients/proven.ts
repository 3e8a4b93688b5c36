/**
 * What tests prove of each client: they are made from this (prove.ts, ../programs), and so is README's table. Whoever adds a word here
 * makes a test that must pass.
 */

export type Feature = "stream" | "tools" | "approval" | "resume";
export type Target = "model" | "agent" | "room";
type Proven = Readonly<Record<Feature, readonly Target[]>>;

/**
 * Where each has a meaning. A room's agents have the tools of their server only. A model is asked without a run: nothing waits, and who loses
 * the connection asks again.
 */
const all: Proven = {
  stream: ["model", "agent", "room"],
  tools: ["model", "agent"],
  approval: ["agent", "room"],
  resume: ["agent", "room"],
};

export const clients = {
  "`openai`, Chat Completions": all,
  "`openai`, Responses": all,
  "`@openai/agents`": all,
  "`@anthropic-ai/sdk`": all,
  "`ollama`": all,
  "AI SDK: `@ai-sdk/openai`, `@ai-sdk/anthropic`, `ai-sdk-ollama`": all,
  "LangChain: `@langchain/openai`, `…/anthropic`, `…/ollama`": all,
  "Codex CLI": all,
  "Claude Code": all,
  opencode: all,
} as const satisfies Readonly<Record<string, Proven>>;
export type ClientName = keyof typeof clients;

export type Cell = { readonly feature: Feature; readonly target: Target };

export function cellsOf(client: ClientName): readonly Cell[] {
  return Object.entries(clients[client]).flatMap(([feature, targets]) =>
    targets.map((target) => ({ feature: feature as Feature, target })),
  );
}

const begin = "<!-- clients: written by test/clients/proven.test.ts -->";
const end = "<!-- end of clients -->";

/** The page with the table in its place. */
export function withTable(page: string): string {
  const head = ["client", "stream", "its own tools", "approval", "taken up after a break"];
  const rows = Object.entries(clients).map(([client, proven]) => [
    client,
    ...Object.entries(all).map(([feature, possible]) => {
      const targets: readonly Target[] = proven[feature as Feature];
      return targets.length === possible.length ? "✓" : targets.join(", ");
    }),
  ]);
  const lines = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  const [before, rest] = page.split(begin);
  return [before, `${begin}\n\n${lines.join("\n")}\n\n${end}`, rest?.split(end)[1]].join("");
}
