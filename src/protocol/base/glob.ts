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
