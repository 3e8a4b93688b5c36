/** More would be held for nothing: the hot statements are few, and their texts are constants. */
const most = 200;

export type StatementNames = {
  /** The name under which a statement is to be prepared; undefined for one that isn't worth it. */
  of(text: string): string | undefined;
  /** After a change of the schema: the same statements get other names, and so are planned anew. */
  renew(): void;
};

/**
 * Prepared statements spare parsing and most of the planning, the larger part of the cost of a short statement.
 * A text gets its name at its second use, so that what is said once (or is built with values in it) takes no place.
 */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const seen = new Set<string>();
  let last = 0;
  return {
    of(text) {
      const name = names.get(text);
      if (name !== undefined || names.size >= most) return name;
      if (!seen.delete(text)) {
        if (seen.size >= most) seen.clear();
        seen.add(text);
        return undefined;
      }
      const given = `s${++last}`;
      names.set(text, given);
      return given;
    },
    renew: () => names.clear(),
  };
}
