/** Writes events with their positions. */
export type EventWriter = {
  event(type: string, fields: string): string;
  /**
   * A piece of a text, or what of it was not told before, behind what `deltaHead` made. `last`: its positions do not go beyond
   * this one. This runs for every token.
   */
  delta(head: string, text: string, last?: number): string;
  /** The next position. */
  position(): number;
  moveTo(position: number): void;
};

/**
 * With `isKept` a piece of text takes as many positions as it has characters, and a reader who comes back is told what comes
 * `after` the one it was told last: of a piece that lies across it, the rest.
 */
export function createEventWriter(isKept: boolean, after = -1): EventWriter {
  let next = 0;
  return {
    event(type, fields) {
      const number = next++;
      if (number <= after) return "";
      return `event: ${type}\ndata: {"type":"${type}",${fields},"sequence_number":${number}}\n\n`;
    },
    delta(head, text, last = Number.MAX_SAFE_INTEGER) {
      const first = next;
      next = Math.min(first + (isKept ? text.length : 1), last + 1);
      const number = Math.max(next - 1, Math.min(first, last));
      if (number <= after) return "";
      const told = first <= after ? text.slice(after + 1 - first) : text;
      return head + JSON.stringify(told) + `,"sequence_number":${number}}\n\n`;
    },
    position: () => next,
    moveTo(position) {
      next = position;
    },
  };
}

/** The constant beginning of the events of one text's pieces. */
export function deltaHead(type: string, fields: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${fields},"delta":`;
}
