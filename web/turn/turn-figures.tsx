import { t } from "@lingui/core/macro";
import type { ConversationBlock, BlockOf } from "../../src/client/conversation.ts";
import { cost, duration, figure } from "../parts/format.ts";
import { PageLink } from "../parts/page-link.tsx";

/** What an answer took, once it is there. */
export function TurnFigures({ blocks }: { readonly blocks: readonly ConversationBlock[] }) {
  const end = blocks.find((block) => block.kind === "end");
  if (!end) return null;
  const sum = figuresOf(blocks);
  const parts = [
    sum.input + sum.output > 0 && t`${{ input: figure(sum.input) }} + ${{ output: figure(sum.output) }} tokens`,
    sum.cost > 0 && t`Cost ${{ cost: cost(sum.cost) }}`,
    sum.firstMs !== undefined && t`Time to first token ${{ time: duration(sum.firstMs) }}`,
    sum.totalMs !== undefined && t`Total ${{ time: duration(sum.totalMs) }}`,
  ].filter((part) => part !== false);
  return (
    <p className="turn-figures">
      {parts.length > 0 && (
        <span className="min-w-0 truncate" title={parts.join(" · ")}>
          {parts.join(" · ")}
        </span>
      )}
      <PageLink to={`/runs/${end.run}`} look="underline">
        {t`Run`}
      </PageLink>
    </p>
  );
}

type UsageSum = { input: number; output: number; cost: number; firstMs?: number; totalMs?: number };

/** Over all steps; the time until the first word is that of the first step. */
export function figuresOf(blocks: readonly ConversationBlock[]): UsageSum {
  const sum: UsageSum = { input: 0, output: 0, cost: 0 };
  const items = blocks.flatMap((block) => itemOf(block) ?? []);
  for (const { body } of items) {
    sum.input += body.usage?.inputTokens ?? 0;
    sum.output += body.usage?.outputTokens ?? 0;
    sum.cost += body.cost ?? 0;
  }
  const [first, last] = [items[0], items.at(-1)];
  const timing = first?.body.timing;
  if (!first || !last || !timing) return sum;
  if (timing.firstMs !== undefined) sum.firstMs = timing.firstMs;
  sum.totalMs = Date.parse(last.createdAt) - Date.parse(first.createdAt) + timing.totalMs;
  return sum;
}

function itemOf(block: ConversationBlock): BlockOf<"message">["item"] {
  return block.kind === "message" && block.role === "assistant" ? block.item : undefined;
}
