import type { Turn } from "./turns.ts";

/** What was said, without what was done. */
export function textOfTurn({ blocks }: Turn): string {
  return blocks.flatMap((block) => (block.kind === "message" && block.text !== "" ? [block.text] : [])).join("\n\n");
}
