import { parseExactly } from "../../../src/protocol/base/exact-json.ts";

/** What a JSON Schema asks for, as fields of a form. */
export type SchemaField = {
  /** Unlike that of every other field: the names that lead to it. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly isNeeded: boolean;
} & (
  | { readonly kind: "group"; readonly fields: readonly SchemaField[] }
  | { readonly kind: "choice"; readonly choices: readonly unknown[] }
  | { readonly kind: "text"; readonly isLong: boolean; readonly least: number; readonly most: number }
  | { readonly kind: "number"; readonly isWhole: boolean; readonly least: number; readonly most: number }
  | { readonly kind: "switch" }
  | { readonly kind: "lines" }
  | { readonly kind: "json" }
);

/** What is typed, by the fields' paths, as text whatever it will become. */
export type FormDraft = Readonly<Record<string, string>>;

/** Names are anybody's: that of something which all objects have is none of the draft. */
export function typedIn(draft: FormDraft, path: string): string {
  return (Object.hasOwn(draft, path) ? draft[path] : undefined) ?? "";
}
/** Why a field's text will not do. */
export type FieldProblem =
  | { readonly code: "missing" | "number" | "whole" | "json" }
  | { readonly code: "least" | "most" | "short" | "long"; readonly bound: number };
export type ReadForm = {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: ReadonlyMap<string, FieldProblem>;
};

type Schema = Readonly<Record<string, unknown>>;
const deepest = 3;
const maxFields = 200;
const longText = 200;
const longNames = /(content|text|body|description|code|prompt|message|query|html|markdown)$/i;

export function fieldsOf(schema: Schema): SchemaField[] {
  return propertiesOf(schema, { root: schema, path: "", depth: 0 });
}

type SchemaLocation = { readonly root: Schema; readonly path: string; readonly depth: number };

function propertiesOf(schema: Schema, place: SchemaLocation): SchemaField[] {
  const needed = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  return Object.entries(asSchema(schema["properties"]))
    .slice(0, maxFields)
    .map(([name, property]) => fieldOf(name, asSchema(property), { ...place, isNeeded: needed.includes(name) }));
}

function fieldOf(name: string, given: Schema, place: SchemaLocation & { readonly isNeeded: boolean }): SchemaField {
  const { root, depth, isNeeded } = place;
  const schema = plainOf(given, root);
  const path = place.path === "" ? name : `${place.path}\u0000${name}`;
  const description = [given["description"], schema["description"]].find((each) => typeof each === "string") ?? "";
  // What has a value of its own may stay out.
  const field = { path, name, description: String(description), isNeeded: isNeeded && schema["default"] === undefined };
  const number = (key: string, otherwise: number) =>
    typeof schema[key] === "number" ? (schema[key] as number) : otherwise;
  if (Array.isArray(schema["enum"])) return { ...field, kind: "choice", choices: schema["enum"] as unknown[] };
  if ("const" in schema) return { ...field, kind: "choice", choices: [schema["const"]] };
  switch (schema["type"]) {
    case "string": {
      const most = number("maxLength", Infinity);
      return {
        ...field,
        kind: "text",
        isLong: most > longText && longNames.test(name),
        least: number("minLength", 0),
        most,
      };
    }
    case "integer":
    case "number":
      return {
        ...field,
        kind: "number",
        isWhole: schema["type"] === "integer",
        least: number("minimum", -Infinity),
        most: number("maximum", Infinity),
      };
    case "boolean":
      return { ...field, kind: "switch" };
    case "array":
      return plainOf(asSchema(schema["items"]), root)["type"] === "string" &&
        !("enum" in plainOf(asSchema(schema["items"]), root))
        ? { ...field, kind: "lines" }
        : { ...field, kind: "json" };
    case "object":
      return depth < deepest && Object.keys(asSchema(schema["properties"])).length > 0
        ? { ...field, kind: "group", fields: propertiesOf(schema, { root, path, depth: depth + 1 }) }
        : { ...field, kind: "json" };
    default:
      return { ...field, kind: "json" };
  }
}

/** What a reference within the schema means, and of "this or nothing" what is not nothing. */
function plainOf(schema: Schema, root: Schema, steps = 0): Schema {
  if (steps > 8) return {};
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const target = reference.startsWith("#/")
      ? reference
          .slice(2)
          .split("/")
          .reduce<unknown>((at, name) => asSchema(at)[name.replaceAll("~1", "/").replaceAll("~0", "~")], root)
      : undefined;
    return plainOf(asSchema(target), root, steps + 1);
  }
  const options = [schema["anyOf"], schema["oneOf"]].find((each) => Array.isArray(each)) as unknown[] | undefined;
  const real = options?.filter((option) => asSchema(option)["type"] !== "null");
  if (real?.length === 1) return plainOf({ ...asSchema(real[0]) }, root, steps + 1);
  if (Array.isArray(schema["type"])) {
    const types = (schema["type"] as unknown[]).filter((type) => type !== "null");
    if (types.length === 1) return { ...schema, type: types[0] };
  }
  return schema;
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** The value that was typed; what was left empty and is not needed stays out. */
export function readForm(fields: readonly SchemaField[], draft: FormDraft): ReadForm {
  const problems = new Map<string, FieldProblem>();
  const read = (some: readonly SchemaField[]): Record<string, unknown> => {
    const value = new Map<string, unknown>();
    for (const field of some) {
      if (field.kind === "group") {
        const before = problems.size;
        const isGiven = hasText(field.fields, draft);
        const inner = isGiven || field.isNeeded ? read(field.fields) : undefined;
        if (inner !== undefined && (isGiven || problems.size === before)) value.set(field.name, inner);
        continue;
      }
      const text = typedIn(draft, field.path);
      if (text === "") {
        if (field.isNeeded && !(field.kind === "text" && field.least === 0))
          problems.set(field.path, { code: "missing" });
        else if (field.isNeeded) value.set(field.name, "");
        continue;
      }
      const result = readField(field, text);
      if ("problem" in result) problems.set(field.path, result.problem);
      else value.set(field.name, result.value);
    }
    return Object.fromEntries(value);
  };
  return { value: read(fields), problems };
}

function hasText(fields: readonly SchemaField[], draft: FormDraft): boolean {
  return fields.some((field) =>
    field.kind === "group" ? hasText(field.fields, draft) : typedIn(draft, field.path) !== "",
  );
}

type ReadField = { readonly value: unknown } | { readonly problem: FieldProblem };

function readField(field: Exclude<SchemaField, { kind: "group" }>, text: string): ReadField {
  switch (field.kind) {
    case "text":
      if (text.length < field.least) return { problem: { code: "short", bound: field.least } };
      if (text.length > field.most) return { problem: { code: "long", bound: field.most } };
      return { value: text };
    case "number": {
      const typed = text.trim().replace(",", ".");
      const value = Number(typed);
      // "1,000" is a thousand to some and one to others.
      const isAmbiguous = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/.test(text.trim());
      if (text.trim() === "" || !Number.isFinite(value) || isAmbiguous) return { problem: { code: "number" } };
      if (field.isWhole && !Number.isSafeInteger(value) && !/^[+-]?\d+$/.test(typed))
        return { problem: { code: "whole" } };
      if (value < field.least) return { problem: { code: "least", bound: field.least } };
      if (value > field.most) return { problem: { code: "most", bound: field.most } };
      return { value: asTyped(typed, value) };
    }
    case "switch":
      return { value: text === "true" };
    case "choice":
      return { value: field.choices[Number(text)] };
    case "lines":
      return { value: text.split("\n").filter((line) => line.trim() !== "") };
    case "json":
      try {
        return { value: parseExactly(text) };
      } catch {
        return { problem: { code: "json" } };
      }
  }
}

/** With all its digits, where what was typed is a number of JSON too. */
function asTyped(typed: string, value: number): unknown {
  const written = typed.replace(/^(?:\+|(-))?0*(?=\d)/, "$1");
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(written) ? parseExactly(written) : value;
}

/** A value as it would have been typed. */
export function draftOf(fields: readonly SchemaField[], value: unknown): FormDraft {
  const given = asSchema(value);
  return Object.assign(
    {},
    ...fields.map((field): FormDraft => {
      const one = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
      if (one === undefined || one === null) return {};
      if (field.kind === "group") return draftOf(field.fields, one);
      if (field.kind === "choice") {
        const at = field.choices.indexOf(one);
        return at === -1 ? {} : { [field.path]: String(at) };
      }
      if (field.kind === "lines" && Array.isArray(one)) return { [field.path]: one.join("\n") };
      return { [field.path]: typeof one === "string" && field.kind !== "json" ? one : JSON.stringify(one) };
    }),
  ) as FormDraft;
}
