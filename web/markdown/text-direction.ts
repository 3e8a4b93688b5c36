/** The parts of hast that are needed here. */
type HastNode = {
  readonly type: string;
  readonly tagName?: string;
  properties?: Record<string, unknown>;
  readonly children?: readonly HastNode[];
};

const ofOneScript = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "blockquote", "table"]);
const leftToRight = new Set(["code", "math"]);

/**
 * A rehype plugin: each block reads from the side of its own script, code and formulas from the left. A paragraph in an item or a
 * quotation gets no `dir` of its own, since the text of what has one doesn't count for what it stands in: CSS aligns those.
 */
export function textDirection() {
  return (tree: HastNode) => visit(tree, false);
}

function visit(node: HastNode, isWithin: boolean): void {
  const { tagName = "" } = node;
  const isBlock = ofOneScript.has(tagName) && !(isWithin && tagName === "p");
  if (isBlock) node.properties = { ...node.properties, dir: "auto" };
  if (leftToRight.has(tagName)) node.properties = { ...node.properties, dir: "ltr" };
  for (const child of node.children ?? []) visit(child, isWithin || tagName === "li" || tagName === "blockquote");
}
