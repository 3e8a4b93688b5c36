/** Longer texts stay as they are: nobody reads them in lines. */
const maxCharacters = 200_000;
/** Strings, then what stands between two signs, then the signs. */
const tokens = /"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+|[{}[\],:]/g;

/**
 * JSON of one line in many, every number and string as it was written; also its beginning, where a text was cut. What is no
 * JSON object or list, or has lines already, stays as it is.
 */
export function formatJson(text: string): string {
  const line = text.trim();
  if (!/^(\{\s*["}]|\[\s*[[{"\]])/.test(line) || line.includes("\n") || line.length > maxCharacters) return text;
  let out = "";
  let depth = 0;
  let last = "";
  let end = 0;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const { 0: token, index } of line.matchAll(tokens)) {
    if (line.slice(end, index).trim() !== "") break;
    if (depth === 0 && last !== "") return text;
    end = index + token.length;
    if (token === "}" || token === "]") {
      depth--;
      if (last !== "{" && last !== "[") out += newLine();
    } else if (last === "{" || last === "[" || last === ",") out += newLine();
    else if (last === ":") out += " ";
    else if (last !== "" && token !== "," && token !== ":") return text;
    if (token === "{" || token === "[") depth++;
    out += token;
    last = token;
  }
  const rest = line.slice(end);
  return out + (rest !== "" && /[{[,]/.test(last) ? newLine() : "") + rest;
}
