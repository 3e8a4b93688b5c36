import type { ToolContext } from "../../src/protocol/agents/tools.ts";
import type { ToolKit } from "../../src/tools/core/user-tools.ts";

// Loaded by the server's processes, as an operator's tools are; the chaos says where the outside is.
const outside = process.env["CHAOS_OUTSIDE"];

async function ask(
  method: "GET" | "POST",
  path: string,
  { signal, idempotencyKey }: ToolContext,
): Promise<{ done: boolean }> {
  const headers = { "idempotency-key": idempotencyKey, "x-pid": String(process.pid), "x-began": String(Date.now()) };
  const response = await fetch(`${outside}/${path}`, { method, headers, signal });
  if (!response.ok) throw new Error(`The outside answered ${response.status}.`);
  return (await response.json()) as { done: boolean };
}

export default ({ defineTool, z }: ToolKit) => {
  const input = z.object({ effect: z.string() });
  const send = (name: string, rest: { idempotent?: boolean; reconcilable?: boolean; destructive?: boolean } = {}) =>
    defineTool({
      name,
      description: "Has an effect outside.",
      input,
      effect: "write",
      timeoutMs: 5000,
      idempotent: rest.idempotent ?? false,
      destructive: rest.destructive ?? false,
      ...(rest.reconcilable && {
        reconcile: async (_input: unknown, context: ToolContext) =>
          (await ask("GET", name, context)).done ? { content: "done" } : ("not-done" as const),
      }),
      async execute({ effect }, context) {
        await ask("POST", `${name}?effect=${encodeURIComponent(effect)}`, context);
        return "done";
      },
    });
  return [
    send("send_idempotent", { idempotent: true }),
    send("send_reconcilable", { reconcilable: true }),
    send("send_plain"),
    send("send_approved", { idempotent: true, destructive: true }),
    defineTool({
      name: "look",
      description: "Changes nothing.",
      input,
      effect: "read",
      execute: ({ effect }) => `saw ${effect}`,
    }),
  ];
};
