import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document, type Scalar, stringify } from "yaml";
import { messageOf } from "../protocol/base/errors.ts";
import { type AgentDefinition, agentSchema } from "../protocol/agents/agents.ts";

/** A Markdown file with YAML between two `---` lines at its start, which may be absent. */
export type FrontMatter = {
  /** The YAML as a value; undefined when there are problems. Empty front matter is an empty object. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly body: string;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  /** The line in the file, from 1, where the value or (for a key of that map) the key stands. */
  readonly lineOf: (path: readonly PropertyKey[], key?: string) => number | undefined;
};

const opening = /^\uFEFF?---[ \t]*\r?\n/;
const closing = /^---[ \t]*(?:\r?\n|$)/m;

export function parseFrontMatter(text: string): FrontMatter {
  const start = opening.exec(text)?.[0].length;
  if (start === undefined) {
    return { values: {}, body: text.replace(/^\uFEFF/, "").trim(), problems: [], lineOf: () => undefined };
  }
  const end = closing.exec(text.slice(start));
  if (!end) {
    const problem = { line: 1, message: "The front matter that --- begins has no second --- line." };
    return { values: undefined, body: "", problems: [problem], lineOf: () => undefined };
  }
  const lines = new LineCounter();
  const document = parseDocument(text.slice(start, start + end.index), { lineCounter: lines, prettyErrors: false });
  // The YAML begins on the file's second line.
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  const problems = document.errors.map((error) => ({ line: lineAt(error.pos[0]), message: error.message }));
  if (document.contents !== null && !isMap(document.contents)) {
    problems.push({ line: 2, message: "The front matter must be lines of the form key: value." });
  }
  let values: FrontMatter["values"];
  try {
    if (problems.length === 0) values = document.toJS() ?? {};
  } catch (error) {
    // Unknown aliases, and aliases that would grow without end.
    problems.push({ line: 2, message: messageOf(error) });
  }
  return {
    values,
    body: text.slice(start + end.index + end[0].length).trim(),
    problems,
    lineOf: (path, key) => {
      const offset = offsetOf(document, path, key);
      return offset === undefined ? undefined : lineAt(offset);
    },
  };
}

/** Where a value begins; what isn't there (a required key) has the place of the map that lacks it. */
function offsetOf(document: Document, path: readonly PropertyKey[], key: string | undefined): number | undefined {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  if (key !== undefined && isMap(node)) {
    const found = node.items
      .map((pair) => pair.key)
      .find((item): item is Scalar => isScalar(item) && item.value === key);
    return found?.range?.[0];
  }
  if (isNode(node)) return node.range?.[0];
  return path.length === 0 ? undefined : offsetOf(document, path.slice(0, -1), undefined);
}

/** An agent as the Markdown file that says the same, for the folder of agents: `<id>.md`. */
export function agentFile({ id, instructions, ...agent }: AgentDefinition): string {
  const usual: Readonly<Record<string, unknown>> = agentSchema.parse({ id });
  const said = Object.entries(agent).filter(
    ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(usual[key]),
  );
  const front = said.length === 0 ? "" : stringify(Object.fromEntries(said), { lineWidth: 0 });
  return `---\n${front}---\n\n${instructions}\n`;
}
