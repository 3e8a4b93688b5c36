/** Whether a text fits a glob in which `*` stands for any characters. Linear in the text, whatever the glob. */
export function matchesGlob(glob: string, text: string): boolean {
  // Most people and agents may use everything.
  if (glob === "*") return true;
  const [head = "", ...rest] = glob.split("*");
  if (rest.length === 0) return text === head;
  const tail = rest.pop()!;
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found === -1 || found + part.length > text.length - tail.length) return false;
    from = found + part.length;
  }
  return true;
}

/** Whether globs name a text. One after `!` takes texts out again, wherever it stands in the list. */
export function selectsByGlobs(globs: readonly string[]): (text: string) => boolean {
  const included = globs.filter((glob) => !glob.startsWith("!"));
  const excluded = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  const isIn = (list: readonly string[], text: string) => list.some((glob) => matchesGlob(glob, text));
  return (text) => isIn(included, text) && !isIn(excluded, text);
}

/** Whether globs may name any text that begins with this. */
export function mayNameAny(globs: readonly string[], prefix: string): boolean {
  const isAllOut = globs.some((glob) => glob.startsWith("!") && matchesGlob(glob.slice(1), `${prefix}*`));
  return !isAllOut && globs.some((glob) => !glob.startsWith("!") && mayBegin(glob, prefix));
}

function mayBegin(glob: string, prefix: string): boolean {
  const [head = "", ...rest] = glob.split("*");
  return head.startsWith(prefix) || (rest.length > 0 && prefix.startsWith(head));
}
