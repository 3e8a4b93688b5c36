import { createHash } from "node:crypto";
import { Conflict } from "../../protocol/base/errors.ts";
import type { ServedOutcome } from "../../protocol/agents/tools-server.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { executeTool } from "../../tools/core/call-tool.ts";
import { errorResult } from "../../tools/core/tool-result.ts";

export type ServedCalls = {
  /**
   * Does a call once for its key: another with the same key gets the same result, now or when there is one. Throws Conflict
   * `idempotency_key_reused` for a key of another call.
   */
  perform(tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult>;
  outcome(key: string): ServedOutcome;
  /** Resolves when no call is at work. */
  idle(): Promise<unknown>;
};

/** Beyond either, the oldest results are forgotten. */
const maxKept = 1000;
const maxKeptCharacters = 32_000_000;

type KeptCall = {
  /** Hash of the call. */
  readonly about: string;
  outcome: ServedOutcome;
  /** While it is at work. */
  result?: Promise<ToolResult>;
  characters: number;
};

/**
 * The ledger is the caller's; this remembers, in memory, which writes were done here, so that a request that is sent again
 * does nothing twice. What it has forgotten, and what it did before its last start, it does again.
 */
export function createServedCalls({ most = maxKept }: { readonly most?: number } = {}): ServedCalls {
  const kept = new Map<string, KeptCall>();
  const working = new Set<Promise<ToolResult>>();
  let characters = 0;

  const track = (result: Promise<ToolResult>) => {
    working.add(result);
    const done = () => working.delete(result);
    result.then(done, done);
    return result;
  };

  function forgetOldest(): void {
    for (const [key, { outcome, characters: size }] of kept) {
      if (kept.size <= most && characters <= maxKeptCharacters) return;
      if (outcome.state === "running") continue;
      kept.delete(key);
      characters -= size;
    }
  }

  async function doOnce(
    entry: KeptCall,
    [tool, input, context]: Parameters<ServedCalls["perform"]>,
  ): Promise<ToolResult> {
    // Unless it comes to its end, nobody knows how far it came.
    let outcome: ServedOutcome = { state: "interrupted" };
    try {
      const result = await executeTool(tool, input, context);
      if (!result.uncertain && !result.ask) outcome = { state: "finished", result };
      if (result.ask) kept.delete(context.idempotencyKey);
      return result;
    } catch (error) {
      // Whoever called is gone, or this server stops; others may wait for the same call.
      if (!context.signal.aborted) throw error;
      return interrupted(tool);
    } finally {
      delete entry.result;
      entry.outcome = outcome;
      entry.characters = JSON.stringify(outcome).length;
      if (kept.get(context.idempotencyKey) === entry) characters += entry.characters;
      forgetOldest();
    }
  }

  return {
    async perform(tool, input, context) {
      if (tool.effect === "read") return track(executeTool(tool, input, context));
      const key = context.idempotencyKey;
      const about = hashOf(tool.name, input);
      const known = kept.get(key);
      if (known && known.about !== about)
        throw new Conflict("This Idempotency-Key was used for another call.", { code: "idempotency_key_reused" });
      if (known?.outcome.state === "finished") return known.outcome.result;
      if (known?.result) return known.result;
      if (known && !tool.idempotent) return interrupted(tool);
      if (known) characters -= known.characters;
      const entry: KeptCall = { about, outcome: { state: "running" }, characters: 0 };
      kept.set(key, entry);
      return (entry.result = track(doOnce(entry, [tool, input, context])));
    },
    outcome: (key) => kept.get(key)?.outcome ?? { state: "unknown" },
    idle: () => Promise.allSettled(working),
  };
}

function interrupted({ name, scope }: Tool): ToolResult {
  const text = `${name} was stopped before it finished; its outcome is unknown.`;
  return { ...errorResult(text), ...(scope === "remote" ? { uncertain: true } : {}) };
}

function hashOf(tool: string, input: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([tool, input]) ?? "")
    .digest("hex");
}
