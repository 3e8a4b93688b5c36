import { useEffect, useState } from "react";
import { words } from "../words.ts";
import type { ConversationState } from "./conversation-store.ts";
import { Ticking } from "./ticking.tsx";
import type { Turn } from "./turns.ts";

type AwaitedProps = { readonly conversation: ConversationState; readonly agent: string };

/** In the place where an agent's words will stand, as long as its model is silent: who was asked, and for how long. */
export function Awaited({ conversation: { turns, head, working, open }, agent }: AwaitedProps) {
  const [first] = working;
  const last = turns.find(({ id }) => id === head);
  if (!first || !last || open.length > 0) return null;
  if (last.role === "user")
    return (
      <div className="turn">
        <h2 className="speaker text-sm font-semibold" data-speaker={0}>
          @{first.agent ?? agent}
        </h2>
        <Silence key={first.run} text={words.turn.firstWordAwaited} since={askedAt(last, first.run)} look="min-h-6" />
      </div>
    );
  const block = last.blocks.at(-1);
  const isAtWork = last.blocks.some((each) => each.kind === "call" && !each.result);
  if (last.run !== first.run || block?.kind !== "call" || isAtWork) return null;
  return <Silence key={block.key} text={words.turn.modelAwaited} since={block.endedAt} look="-mt-4" />;
}

/** Undefined: this message was asked before, and nothing says when it was asked anew. */
function askedAt({ run, blocks }: Turn, now: string): string | undefined {
  const [block] = blocks;
  return run === now && block?.kind === "message" ? block.item?.createdAt : undefined;
}

/** What comes sooner needs no word. */
const quietMs = 1000;

type SilenceProps = { readonly text: string; readonly since: string | undefined; readonly look: string };

function Silence({ text, since, look }: SilenceProps) {
  const [begun] = useState(() => new Date().toISOString());
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), quietMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className={`speaker-rule text-sm text-muted ${look}`} data-speaker={0}>
      {isLong && (
        <>
          {text}
          <Ticking since={since ?? begun} />
        </>
      )}
    </p>
  );
}
