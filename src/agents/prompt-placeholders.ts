import { similarNames } from "../protocol/base/similar-names.ts";

type Placeholders = { readonly required: readonly string[]; readonly optional: readonly string[] };

const reactSystem: Placeholders = { required: ["tools"], optional: ["instructions", "now"] };
const reactThought: Placeholders = { required: ["scratchpad"], optional: ["question"] };

/** Every prompt by its name, and what its text can be given. */
export const promptPlaceholders: ReadonlyMap<string, Placeholders> = new Map([
  ["react_system", reactSystem],
  ["react_system_nanocoder", reactSystem],
  ["react_thought", reactThought],
  ["react_thought_nanocoder", reactThought],
  ["react_observation", { required: ["result"], optional: ["scratchpad", "question"] }],
  ["react_final", { required: ["scratchpad"], optional: ["question"] }],
  ["plan_create", { required: ["tools", "max_steps"], optional: ["instructions", "now", "question"] }],
  ["plan_step", { required: ["step"], optional: ["plan", "results", "question"] }],
  ["plan_revise", { required: ["reason", "max_steps"], optional: ["plan", "results", "tools", "question"] }],
  ["plan_answer", { required: ["results"], optional: ["plan", "question"] }],
  ["json_actions_repair", { required: ["reason"], optional: [] }],
  ["summarise", { required: ["conversation"], optional: ["words"] }],
  ["title", { required: ["conversation"], optional: [] }],
  ["room_member", { required: ["name", "members"], optional: [] }],
  ["rag_query", { required: ["question"], optional: [] }],
  ["websearch_answer", { required: ["question", "results"], optional: [] }],
  ["ppt_maker", { required: ["instructions"], optional: ["slides", "pictures", "deck"] }],
  ["auto_choose", { required: ["question", "strategies"], optional: ["tools"] }],
]);

/** `{{`, `}}`, `{name}`, or a brace that is none of these. */
const braces = /\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]/g;

/**
 * A prompt with a value for each of its placeholders. What stands in a value is never interpreted. Throws when a value is
 * missing: the text was checked, so the strategy gives too little.
 */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(braces, (found, name: string | undefined) => {
    if (name === undefined) return found.slice(0, 1);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new Error(`No value for {${name}} in a prompt.`);
    return value;
  });
}

/** An agent's instructions: only the given names stand for something, all other braces are text. */
export function fillInstructions(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (found, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? found) : found,
  );
}

/** What is wrong with a text for the prompt of this name; lines count from 1. */
export function faultsOfPrompt(name: string, text: string): { readonly line?: number; readonly message: string }[] {
  const { required, optional } = placeholdersOf(name);
  const known = [...required, ...optional];
  if (text.trim() === "") return [{ message: "The file is empty." }];
  const faults: { line?: number; message: string }[] = [];
  const strays = new Set<number>();
  const used = new Set<string>();
  for (const [line, found, placeholder] of bracesOf(text)) {
    if (placeholder === undefined) {
      if (found.length === 1) strays.add(line);
    } else if (!known.includes(placeholder) && !used.has(placeholder)) {
      faults.push({ line, message: `{${placeholder}} is not a placeholder of ${name}. ${hint(placeholder, known)}` });
    }
    if (placeholder !== undefined) used.add(placeholder);
  }
  const [first, ...others] = strays;
  if (first !== undefined) {
    const further = others.length > 0 ? ` The same in line ${others.slice(0, 10).join(", ")}.` : "";
    const message = `A brace that begins or ends no placeholder is written twice, as in {{"a": 1}}.${further}`;
    faults.push({ line: first, message });
  }
  const missing = required.filter((each) => !used.has(each));
  for (const each of missing) faults.push({ message: `{${each}} is missing; ${name} can't do without it.` });
  return faults;
}

function placeholdersOf(name: string): Placeholders {
  const found = promptPlaceholders.get(name);
  if (!found) throw new Error(`Prompt "${name}" not found.`);
  return found;
}

/** Each brace or placeholder with its line. */
function* bracesOf(text: string): Generator<readonly [line: number, found: string, name: string | undefined]> {
  for (const [index, line] of text.split("\n").entries())
    for (const [found, name] of line.matchAll(braces)) yield [index + 1, found, name];
}

function hint(placeholder: string, known: readonly string[]): string {
  const near = similarNames(placeholder, known);
  const names = (near.length > 0 ? near : known).map((each) => `{${each}}`);
  return near.length > 0 ? `Did you mean ${names.join(" or ")}?` : `Available: ${names.join(", ")}.`;
}
