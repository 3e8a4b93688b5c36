const most = 2000;
/** Of `rag`: how a model is to cite. */
const adviceToModels = /\n\nPut the number of the passage behind each statement .*/;

/** A tool's result in words: JSON becomes lines that a person reads, anything else stays as it is. */
export function tellResult(tool: string, content: string): string {
  const value = parsed(content);
  if (typeof value !== "object" || value === null) return shortened(withLines(content.replace(adviceToModels, "")));
  const text = described(value);
  return shortened(`${deed(tool)}:${text.startsWith("- ") ? "\n" : " "}${text}`);
}

/** Lines stay lines in Markdown too. */
function withLines(text: string): string {
  return text.includes("```") ? text : text.replaceAll(/(?<=\S)\n(?=\S)/g, "  \n");
}

/** `add_task` → "Add task". */
function deed(tool: string): string {
  const words = tool.replace(/[_.-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function described(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? "nothing" : value.map((entry) => `- ${described(entry)}`).join("\n");
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).filter(([, field]) => field !== "" && field !== null);
  const [only] = entries;
  if (entries.length === 1 && typeof only![1] === "object") return described(only![1]);
  const title = entries.find(([name]) => /^(title|name|subject|text|answer)$/.test(name));
  if (!title) return entries.map(([name, field]) => `${name} ${described(field)}`).join(", ");
  const details = entries
    .filter(([name]) => /^(id|status|state)$/.test(name))
    .map(([name, field]) => (name === "id" ? `no. ${String(field)}` : String(field)));
  return details.length === 0 ? String(title[1]) : `${String(title[1])} (${details.join(", ")})`;
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function shortened(text: string): string {
  return text.length > most ? `${text.slice(0, most)} …` : text;
}
