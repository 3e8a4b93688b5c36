function toolFile(name: string, effect: "read" | "write"): string {
  return `export default ({ defineTool, z }) => defineTool({
  name: "${name}",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "${effect}",
  execute: ({ a, b }) => String(a + b),
});
`;
}

/** An operator's tools, of which scripts ask for one: `add` only reads, what `record_sum` does goes through the ledger. */
export const sumTools = {
  agentTools: ["add", "record_sum"],
  files: { "tools/add.ts": toolFile("add", "read"), "tools/record_sum.ts": toolFile("record_sum", "write") },
} as const;
