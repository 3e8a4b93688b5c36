import type { Database } from "./database.ts";

export type ChangeFeed = {
  /**
   * Tells of what is announced for a key, with the word behind it, on whichever node it was done; sometimes once too often.
   * Undefined, at the beginning and after a lost connection: anything may have changed.
   */
  follow(key: string, tell: (word: string | undefined) => void): () => void;
};

/** Hears what triggers and statements announce on a channel as `key` or `key word`. */
export function createChangeFeed(database: Pick<Database, "listen">, channel: string): ChangeFeed {
  const followers = new Map<string, Set<(word: string | undefined) => void>>();
  let listening: Promise<unknown> | undefined;
  const hear = (text: string) => {
    const [key = "", word = ""] = text.split(" ");
    // Empty: what was told while the connection was lost nobody knows.
    if (key === "") for (const each of followers.values()) for (const tell of each) tell(undefined);
    else for (const tell of followers.get(key) ?? []) tell(word);
  };
  const listen = () => {
    listening ??= database.listen(channel, hear).catch(() => {
      listening = undefined;
    });
    return listening;
  };
  return {
    follow(key, tell) {
      const others = followers.get(key) ?? new Set();
      followers.set(key, others.add(tell));
      void listen().then(() => others.has(tell) && tell(undefined));
      return () => {
        others.delete(tell);
        if (others.size === 0 && followers.get(key) === others) followers.delete(key);
      };
    },
  };
}
