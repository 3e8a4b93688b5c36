import type { JsonSchema, ToolSchema } from "../../protocol/agents/models.ts";
import { verbOf, isArithmetic, nameWords, thingWords, wordsOf } from "./choose-tool.ts";
import { plainSchema, propertiesOf, requiredOf, schemaInstance, typeOf } from "./schema-instance.ts";

const politeWords = new Set(
  "please can could would you i me my mine a an the some want need like that's what what's is are it this that of our us let's all bitte ein eine einen mir meine meinen mein die der das hinzu dass".split(
    " ",
  ),
);
/** What stands between the wish and its content; nothing after it is dropped. */
const connectors = new Set("to for called named titled as about in at on that says saying : - with".split(" "));

/** What a sentence says apart from the wish itself: "add a task to buy milk" says "buy milk". */
export function contentOf(sentence: string, tool: ToolSchema): string {
  const listed =
    /\b(?:add|put)\s+(.+?)\s+(?:to|on|in)\s+(?:my|the|our)\s+(?:[\w-]+\s+)?(?:list|tasks?|todos?|to-dos?)\b/i.exec(
      sentence,
    );
  if (listed && !thingWords(tool).some((word) => wordsOf(listed[1]!)[0] === word)) return tidy(listed[1]!);
  const dropped = new Set([...thingWords(tool), ...nameWords(tool.name).flatMap((word) => verbOf(word) ?? [word])]);
  const pieces = sentence.split(/\s+/);
  let at = 0;
  for (; at < pieces.length; at++) {
    const piece = pieces[at]!;
    if (connectors.has(piece.toLowerCase())) return tidy(pieces.slice(at + 1).join(" "));
    const word = wordsOf(piece)[0] ?? "";
    const bare = piece.toLowerCase().replace(/(?<![,.!?])[,.!?]+$/, "");
    if (!(word === "" || dropped.has(word) || politeWords.has(bare) || /^#?\d+[:.]?$/.test(piece))) break;
    if (piece.endsWith(":")) return tidy(pieces.slice(at + 1).join(" "));
  }
  return tidy(pieces.slice(at).join(" "));
}

function tidy(text: string): string {
  return text
    .trim()
    .replace(/[\s,]*\b(?:please|thanks|thank you)\b[.!]*$/i, "")
    .replace(/(?<![.!?])[.!?]+$/, "")
    .trim();
}

/** Texts in quotation marks. */
export function quotedIn(sentence: string): readonly string[] {
  return [...sentence.matchAll(/"([^"]+)"|“([^”]+)”|«([^»]+)»|(?<!\w)'([^']+)'(?!\w)/g)].map((match) =>
    match.slice(1).find(Boolean)!,
  );
}

/** What can be put into arguments, each piece once. */
type ArgumentSource = { readonly sentence: string; readonly texts: string[]; readonly numbers: number[] };

/** Arguments for a tool from a sentence, by the tool's schema alone. `texts`: instead of what the sentence says. */
export function argumentsFrom(
  sentence: string,
  tool: ToolSchema,
  texts?: readonly string[],
): Readonly<Record<string, unknown>> {
  const quoted = texts ?? quotedIn(sentence);
  const content = contentOf(sentence, tool);
  const supply: ArgumentSource = {
    sentence,
    texts: quoted.length > 0 ? [...quoted] : content === "" ? [] : [content],
    numbers: (sentence.match(/(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.[\w.]*\w)/g) ?? []).map(Number),
  };
  const schema = tool.parameters;
  const required = requiredOf(schema);
  const wanted = new Set(required);
  // A tool that demands no text at all still means its first one: the new title of an update, the query of a search.
  const demandsText = required.some((name) => typeOf(plainSchema(propertiesOf(schema)[name], schema)) === "string");
  const given: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema)).sort(
    ([one], [other]) => +wanted.has(other) - +wanted.has(one),
  )) {
    const plain = plainSchema(property, schema);
    const isFirstText =
      !demandsText &&
      contentNames.test(name) &&
      typeOf(plain) === "string" &&
      !plain["enum"] &&
      !Object.values(given).some((value) => typeof value === "string");
    const value = valueFor(name, plain, supply, { schema, required: wanted.has(name), offered: isFirstText });
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** Optional properties that are likely meant by what a sentence says. */
const contentNames = /^(title|name|text|content|message|query|question|search|input|prompt|description)$/i;

type ArgumentSlot = { readonly schema: JsonSchema; readonly required: boolean; readonly offered: boolean };

function valueFor(name: string, plain: JsonSchema, supply: ArgumentSource, place: ArgumentSlot): unknown {
  const otherwise = () => (place.required ? schemaInstance(plain, place.schema) : undefined);
  const words = wordsOf(supply.sentence);
  if (Array.isArray(plain["enum"]))
    return plain["enum"].find((value) => words.includes(wordsOf(String(value))[0] ?? "")) ?? otherwise();
  switch (typeOf(plain)) {
    case "string":
      if (!place.required && !place.offered) return undefined;
      if (isArithmetic(supply.sentence) && /express|formula|input|calc/i.test(name))
        return expressionIn(supply.sentence);
      return capitalised(name, supply.texts.shift()) ?? otherwise();
    case "integer":
    case "number":
      return place.required || words.includes(name.toLowerCase()) ? (supply.numbers.shift() ?? otherwise()) : undefined;
    case "boolean":
      if (place.required) return !/\b(?:no|not|don't|without|false|off)\b/i.test(supply.sentence);
      return nameWords(name).every((word) => words.includes(word)) || undefined;
    case "array": {
      const item = plainSchema(plain["items"], place.schema);
      if (!place.required) return undefined;
      if (typeOf(item) === "string" && !item["enum"]) return supply.texts.splice(0);
      return typeOf(item) === "number" || typeOf(item) === "integer" ? supply.numbers.splice(0) : otherwise();
    }
    default:
      return otherwise();
  }
}

/** Titles begin with a capital; other texts stay as they were said. */
function capitalised(name: string, text: string | undefined): string | undefined {
  return text && /title|name|subject|summary/i.test(name) ? text[0]!.toUpperCase() + text.slice(1) : text;
}

function expressionIn(sentence: string): string {
  const symbols = sentence
    .replaceAll(/\bplus\b/gi, "+")
    .replaceAll(/\bminus\b/gi, "-")
    .replaceAll(/\btimes\b|×|(?<=\d\s*)x(?=\s*\d)/gi, "*")
    .replaceAll(/\bdivided by\b|÷/gi, "/");
  const found = symbols.match(/[\d(][\d\s+\-*/^%().]*/g) ?? [];
  return found
    .reduce((longest, text) => (text.length > longest.length ? text : longest), "")
    .trim()
    .replace(/(?<![.\s])[.\s]+$/, "");
}
