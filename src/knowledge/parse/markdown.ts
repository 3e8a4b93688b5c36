import type { ParsedSection } from "./parsed.ts";

/** A section from each heading to the next, with the path of headings above it. A fence's lines are no headings. */
export function markdownSections(text: string): readonly ParsedSection[] {
  const sections: ParsedSection[] = [];
  let path: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  const close = () => {
    const body = lines.join("\n");
    if (body.trim() !== "") sections.push({ text: body, ...(path.length > 0 && { headings: path.filter(Boolean) }) });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === undefined || (mark[0] === fence[0] && mark.length >= fence.length)))
      fence = fence === undefined ? mark : undefined;
    const heading = fence === undefined ? headingIn(line) : undefined;
    if (heading) {
      close();
      const { level, title } = heading;
      path = [...path.slice(0, level - 1), ...Array<string>(Math.max(0, level - 1 - path.length)).fill(""), title];
    }
    lines.push(line);
  }
  close();
  return sections;
}

/** In steps, since one pattern for all of it takes minutes for a line of many spaces. */
function headingIn(line: string): { readonly level: number; readonly title: string } | undefined {
  const [begin, marks] = /^ {0,3}(#{1,6})\s/.exec(line) ?? [];
  if (begin === undefined || marks === undefined) return undefined;
  const title = line.slice(begin.length).trim();
  if (/[\r\u2028\u2029]/.test(title)) return undefined;
  return { level: marks.length, title: title.replace(/(?<!#)#+$/, "").trimEnd() };
}
