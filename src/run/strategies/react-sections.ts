export type ReactSection = {
  readonly label: "preamble" | "thought" | "action" | "input" | "observation" | "answer";
  readonly value: string;
};

const decoration = "[ \\t>]{0,12}(?:[-*+•][ \\t]+|#{1,6}[ \\t]+|\\d+[.)][ \\t]+)?[*_`]{0,3}";
const names = [
  ["input", "(?:action|tool)[ _-]?\\d*[ _-]?input|actioninput"],
  ["thought", "thoughts?"],
  ["action", "action"],
  ["observation", "observations?"],
  ["answer", "final[ _-]?answer|answer"],
] as const;
const number = "(?:[ \\t]*(?:#\\d*|\\d+))?";
const labels = names.map(
  ([label, name]) =>
    [
      label,
      new RegExp(`^${decoration}[ \\t]{0,4}(?:${name})${number}[*_\`]{0,3}[ \\t]*[:：][*_\`]{0,3}[ \\t]*`, "i"),
    ] as const,
);

/**
 * A text cut at the labels with which its lines begin: in bold, numbered, as headings, in any case, with a full-width
 * colon. A label in a code fence is code. If no action is found so, the fence is taken for the model's wrapping of the
 * whole; if then still none, labels that follow each other in one line count.
 */
export function sectionsOf(text: string): readonly ReactSection[] {
  const wrapped = /^\s*```\w*[ \t]*\n([^]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
  for (const attempt of [() => cut(wrapped, true), () => cut(text, false), () => cut(broken(text), false)]) {
    const sections = attempt();
    if (sections.some(({ label, value }) => (label === "action" || label === "answer") && value.trim() !== "")) {
      return sections;
    }
  }
  return cut(wrapped, true);
}

function cut(text: string, respectFences: boolean): ReactSection[] {
  const sections: { label: ReactSection["label"]; lines: string[] }[] = [{ label: "preamble", lines: [] }];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const found = fence === undefined ? labelOf(line, sections.at(-1)!.label) : undefined;
    if (found) sections.push({ label: found.label, lines: [found.rest] });
    else if (respectFences || !/^\s*```\w*\s*$/.test(line)) sections.at(-1)!.lines.push(line);
    if (respectFences) fence = fenceAfter(found ? found.rest : line, fence);
  }
  return sections
    .map(({ label, lines }) => ({ label, value: withoutHalfWord(lines.join("\n")).trim() }))
    .filter(({ label, value }) => label !== "preamble" || value !== "");
}

function labelOf(
  line: string,
  within: ReactSection["label"],
): { label: ReactSection["label"]; rest: string } | undefined {
  for (const [label, pattern] of labels) {
    const match = pattern.exec(line);
    // An answer may have lines such as "Action: …"; only what goes on with the protocol ends it.
    if (match && !(within === "answer" && (label === "action" || label === "input" || label === "answer"))) {
      return { label, rest: line.slice(match[0].length) };
    }
  }
  return undefined;
}

function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const [begin, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
  if (begin === undefined || mark === undefined) return fence;
  const rest = line.slice(begin.length);
  if (fence === undefined) return rest.includes(mark[0]!) ? undefined : mark;
  return mark.startsWith(fence) && rest.trim() === "" ? undefined : fence;
}

/** A stop word that came too late leaves its beginning behind: a last line `Observ`. */
function withoutHalfWord(value: string): string {
  const lineBreak = value.trimEnd().lastIndexOf("\n");
  const last = value.slice(lineBreak + 1).trim();
  return lineBreak !== -1 && last.length >= 4 && "Observation".startsWith(last) ? value.slice(0, lineBreak) : value;
}

function broken(text: string): string {
  return text.replace(/[ \t]((?:Action(?: Input)?|Observation|Final Answer)[ \t]*\d*:)/g, "\n$1");
}
