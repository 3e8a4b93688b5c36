/** Who says how much a model holds: the configuration, its server, or nobody. */
export type ContextSource = "configured" | "told" | "assumed";

export function fixedContextSize(configured: number | undefined, usual: number): ContextSize {
  return configured === undefined ? { tokens: usual, from: "assumed" } : { tokens: configured, from: "configured" };
}

/** How many tokens of prompt and answer a model holds. */
export type ContextSize = {
  /** As far as it is known by now. */
  readonly tokens: number;
  readonly from: ContextSource;
  /** Finds it out; undefined: nothing to wait for. Never throws, and takes no longer than one short question. */
  ready?(): Promise<void> | undefined;
};

/** `isSettled: false`: good for now, but the server may say something else later. Undefined: it did not say. */
export type FoundSize = { readonly tokens: number; readonly isSettled: boolean } | undefined;

/** After an answer that settled nothing the server is asked again, this often at most. */
const askAgainMs = 60_000;

/**
 * A size that only the server knows. It is asked when the first request needs it, which waits for the answer; requests after
 * one that failed do not wait again. Once known, it stays.
 */
export function lazyContextSize(
  ask: () => Promise<FoundSize>,
  { otherwise, againMs = askAgainMs }: { readonly otherwise: number; readonly againMs?: number },
): ContextSize {
  let tokens = otherwise;
  let from: ContextSource = "assumed";
  let isSettled = false;
  let first: Promise<void> | undefined;
  let nextAt = Infinity;

  async function find(): Promise<void> {
    const found = await ask();
    if (found) ({ tokens, isSettled } = found);
    if (found) from = "told";
    nextAt = performance.now() + againMs;
  }

  return {
    get tokens() {
      return tokens;
    },
    get from() {
      return from;
    },
    ready() {
      if (isSettled) return undefined;
      if (!first) return (first = find());
      if (nextAt === Infinity) return first;
      if (performance.now() >= nextAt) {
        nextAt = performance.now() + againMs;
        void find();
      }
      return undefined;
    },
  };
}
