const longest = 60;

/** A title for what begins with these words: their first sentence without Markdown's marks, cut at a word where it is long. */
export function titleOf(text: string): string {
  const line = unmarked(
    text
      .trim()
      .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+|@[\w-]+[,:]?\s+|\s+)+/, "")
      .split("\n", 1)[0]!,
  ).trim();
  const sentence = /^.{8,}?[.!?…](?=\s|$)/u.exec(line)?.[0] ?? line;
  const plain = sentence.replace(/(?<![.:,;])[.:,;]+$/, "");
  if (plain.length <= longest) return plain === "" ? text.trim().slice(0, longest) : plain;
  const cut = plain.slice(0, longest).replace(/\s+\S*$/, "");
  return `${(cut === "" ? plain.slice(0, longest) : cut).toWellFormed()}…`;
}

/** A mark is one only in a pair right around words: `17 * 23` and `2 ** 3` have none. */
function unmarked(line: string): string {
  return line
    .slice(0, 1000)
    .replaceAll(/(?<![\w*])(\*\*?)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])/g, "$2")
    .replaceAll(/(?<!\w)__(?=\S)([^_]*\S)__(?!\w)/g, "$1")
    .replaceAll(/(?<!`)(`+)(?=[^`])([^`]*[^`])\1/g, "$2");
}
