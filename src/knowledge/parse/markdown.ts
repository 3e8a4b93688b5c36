import type { Section } from "./parsed.ts";

/** A section from each heading to the next, with the path of headings above it. A fence's lines are no headings. */
export function markdownSections(text: string): readonly Section[] {
  const sections: Section[] = [];
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
    const heading = fence === undefined ? /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null;
    if (heading) {
      close();
      const level = heading[1]!.length;
      path = [
        ...path.slice(0, level - 1),
        ...Array<string>(Math.max(0, level - 1 - path.length)).fill(""),
        heading[2]!,
      ];
    }
    lines.push(line);
  }
  close();
  return sections;
}
