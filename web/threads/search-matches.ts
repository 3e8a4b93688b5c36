/** So much of a line is seen before the first word that was found. */
const charactersBefore = 12;

export function markedPieces(
  text: string,
  search: string,
  fromFirst: boolean,
): readonly { readonly piece: string; readonly isFound: boolean }[] {
  const words = search.trim().split(/\s+/);
  if (words[0] === "") return [{ piece: text, isFound: false }];
  // The longest of those that begin at one place.
  const sorted = words.toSorted((a, b) => b.length - a.length);
  const quoted = sorted.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pieces = text.split(new RegExp(`(${quoted.join("|")})`, "iu"));
  const before = pieces[0] ?? "";
  const begin = fromFirst && pieces.length > 1 ? shortEnd(before) : before;
  return [begin, ...pieces.slice(1)].map((piece, at) => ({ piece, isFound: at % 2 === 1 }));
}

/** Of what stands before, the end, from the beginning of a word. */
function shortEnd(text: string): string {
  if (text.length <= charactersBefore * 2) return text;
  const end = text.slice(-charactersBefore);
  const space = end.indexOf(" ");
  return `…${(space === -1 ? end : end.slice(space + 1)).toWellFormed()}`;
}
