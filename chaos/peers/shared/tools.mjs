import { setTimeout as sleep } from "node:timers/promises";

/** The tools that every peer has; `effect` is their only argument. */
export const tools = [
  { name: "look", description: "Changes nothing." },
  { name: "send_plain", description: "Has an effect outside, at an address that looks at no key." },
  { name: "send_idempotent", description: "Has an effect outside, at an address that honours the key." },
];

/** One try; throws if no answer came. */
export async function callTool(name, effect, key) {
  if (name === "look") return `saw ${effect}`;
  const response = await fetch(`${process.env.CHAOS_OUTSIDE}/${name}?effect=${encodeURIComponent(effect)}`, {
    method: "POST",
    headers: key ? { "idempotency-key": key } : {},
    signal: AbortSignal.timeout(5000),
  });
  if (!response.ok) throw new Error(`the outside answered ${response.status}`);
  await response.json();
  return "done";
}

/** With tries under the same key where the key is honoured, for peers whose tools have no retries of their own. */
export async function callToolPatiently(name, effect, key) {
  for (let tries = 1; ; tries++) {
    try {
      return await callTool(name, effect, key);
    } catch (error) {
      if (name !== "send_idempotent" || tries === 4) throw error;
      await sleep(200 * tries);
    }
  }
}
