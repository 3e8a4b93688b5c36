import { parser } from "@lezer/python";
import { type ParsedDocument, shortened } from "./parsed.ts";

const maxNames = 100;
const previewLines = 40;

/** Imports and definitions, also of code with errors. */
export function parsePython(text: string): ParsedDocument {
  const imports: string[] = [];
  const classes: string[] = [];
  const functions: string[] = [];
  const tree = parser.parse(text);
  tree.iterate({
    enter(node) {
      const within = node.node.parent;
      if (node.name === "ImportStatement") imports.push(text.slice(node.from, node.to).replaceAll(/\s+/g, " "));
      else if (node.name === "ClassDefinition" || node.name === "FunctionDefinition") {
        const name = node.node.getChild("VariableName");
        if (!name) return;
        const label = text.slice(name.from, name.to);
        const isMethod = within?.name === "Body" && within.parent?.name === "ClassDefinition";
        if (node.name === "ClassDefinition") classes.push(label);
        else if (!isMethod) functions.push(label);
      }
    },
  });
  const lines = text.split("\n");
  return {
    metadata: {
      lines: lines.length,
      imports: imports.slice(0, maxNames).map((line) => shortened(line, 200)),
      classes: classes.slice(0, maxNames),
      functions: functions.slice(0, maxNames),
      preview: shortened(lines.slice(0, previewLines).join("\n"), 3000),
    },
    sections: [{ text }],
  };
}
