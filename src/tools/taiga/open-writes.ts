/**
 * Writes of this process that were sent and got no answer at all: Taiga may still be at work on them, so what is not there
 * yet is not "not done".
 */
export type OpenWrites = {
  begin(key: string): void;
  /** It was answered, refused, or its connection broke. */
  end(key: string): void;
  has(key: string): boolean;
};

const maxKept = 1000;

export function createOpenWrites(): OpenWrites {
  const keys = new Set<string>();
  return {
    begin(key) {
      keys.add(key);
      if (keys.size > maxKept) keys.delete(keys.values().next().value!);
    },
    end: (key) => void keys.delete(key),
    has: (key) => keys.has(key),
  };
}
