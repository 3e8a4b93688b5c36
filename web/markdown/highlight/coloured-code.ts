/** A piece of a line of code: a text, or one with the classes of its colour. */
export type CodeWord = string | readonly [classes: string, text: string];
export type CodeLine = readonly CodeWord[];

export type HighlightInput = { readonly id: number; readonly language: string; readonly text: string };
/** Without lines: nobody knows the language. */
export type HighlightedCode = { readonly id: number; readonly lines?: readonly CodeLine[] };

/** A node of what lowlight returns. */
export type HighlightNode =
  | { readonly type: "text"; readonly value: string }
  | {
      readonly type: "element";
      readonly properties: { readonly className?: readonly string[] };
      readonly children: readonly HighlightNode[];
    };

/** The lines of a tree; joined with line ends, their texts are the code. */
export function linesOf(nodes: readonly HighlightNode[]): readonly CodeLine[] {
  const lines: CodeWord[][] = [[]];
  const add = (node: HighlightNode, classes: string): void => {
    if (node.type === "element") {
      const own = [classes, ...(node.properties.className ?? [])].filter((name) => name !== "").join(" ");
      for (const child of node.children) add(child, own);
      return;
    }
    for (const [at, text] of node.value.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (text !== "") lines.at(-1)!.push(classes === "" ? text : [classes, text]);
    }
  };
  for (const node of nodes) add(node, "");
  return lines;
}
