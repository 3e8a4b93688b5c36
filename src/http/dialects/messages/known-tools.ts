import type { JsonSchema } from "../../../protocol/agents/models.ts";

/** What a client runs itself, and the vendor's models know without a schema: others are shown one. */
export type KnownTool = { readonly description: string; readonly parameters: JsonSchema };

const text = { type: "string" };
const line = { type: "integer" };
const range = {
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description: "First and last line; -1: to the end",
};
const edits = {
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: line,
  insert_text: text,
  view_range: range,
};

const families: readonly (readonly [RegExp, KnownTool])[] = [
  [
    /^bash_\d+$/,
    {
      description: "Runs a command in the user's shell, which stays open between calls. `restart` starts it anew.",
      parameters: { type: "object", properties: { command: text, restart: { type: "boolean" } } },
    },
  ],
  [
    /^text_editor_\d+$/,
    {
      description:
        "Looks at and changes files of the user. `view` shows a file or folder, `create` writes `file_text`, `str_replace` replaces the one place of `old_str` by `new_str`, `insert` puts `insert_text` behind the line `insert_line`.",
      parameters: {
        type: "object",
        properties: { command: { enum: ["view", "create", "str_replace", "insert"] }, path: text, ...edits },
        required: ["command", "path"],
      },
    },
  ],
  [
    /^memory_\d+$/,
    {
      description:
        "Keeps notes in files below /memories, over conversations: look there first. `view`, `create`, `str_replace`, `insert` and `delete` take `path`, `rename` takes `old_path` and `new_path`.",
      parameters: {
        type: "object",
        properties: {
          command: { enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
          path: text,
          ...edits,
          old_path: text,
          new_path: text,
        },
        required: ["command"],
      },
    },
  ],
];

/** Undefined: the vendor runs it, or it is not known here. */
export function knownTool(type: string): KnownTool | undefined {
  return families.find(([types]) => types.test(type))?.[1];
}
