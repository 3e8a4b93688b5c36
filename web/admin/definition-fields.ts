import type { Pick } from "../parts/menus/picks-field.tsx";
import type { Definition } from "../../src/protocol/agents/definitions.ts";

/** `words`: a list, one to a line; `pairs`: names and values, one `name: value` to a line. */
export type FieldKind = "line" | "secret" | "long" | "words" | "pairs" | "choice";
export type FieldSpec = {
  readonly key: string;
  readonly label: string;
  readonly kind: FieldKind;
  /** Of a choice all there are, of a line suggestions. */
  readonly choices?: readonly string[];
  readonly hint?: string;
  /** Below the field: what it is for. */
  readonly help?: string;
  /** Of `words`, what there is to pick from; anything else may be written as a pattern. */
  readonly picks?: readonly Pick[];
  readonly isNeeded?: boolean;
};

/** As it stands in the form: a text for each field, and all else of the definition as JSON. */
export type DefinitionForm = { readonly values: Readonly<Record<string, string>>; readonly rest: string };

export function definitionForm(definition: Definition, fields: readonly FieldSpec[]): DefinitionForm {
  const values: Record<string, string> = {};
  const rest: Record<string, unknown> = { ...definition };
  for (const { key, kind } of fields) {
    const text = fieldText(definition[key], kind);
    // What the field could not say whole stays in the JSON.
    if (text === undefined) continue;
    values[key] = text;
    delete rest[key];
  }
  return { values, rest: Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : "" };
}

/** Undefined: the JSON is none, or not an object. */
export function definitionOf({ values, rest }: DefinitionForm, fields: readonly FieldSpec[]): Definition | undefined {
  const others = rest.trim() === "" ? {} : objectOf(rest);
  if (!others) return undefined;
  const definition: Record<string, unknown> = { ...others };
  for (const { key, kind } of fields) {
    const text = values[key] ?? "";
    // An empty field says nothing: what is left out is as by default.
    if (kind === "long" ? text !== "" : text.trim() !== "") definition[key] = valueOf(text, kind);
  }
  return definition;
}

function fieldText(value: unknown, kind: FieldKind): string | undefined {
  if (value === undefined || value === null) return "";
  if (kind === "words") return isTexts(value) ? value.join("\n") : undefined;
  if (kind === "pairs") return pairsText(value);
  return typeof value === "string" ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\n"));
}

function pairsText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const lines = Object.entries(value).map(([name, text]) =>
    typeof text === "string" && !text.includes("\n") ? `${name}: ${text}` : undefined,
  );
  return lines.includes(undefined) ? undefined : lines.join("\n");
}

function valueOf(text: string, kind: FieldKind): unknown {
  if (kind === "long") return text;
  if (kind === "words") return linesOf(text);
  if (kind === "pairs")
    return Object.fromEntries(
      linesOf(text).map((line) => {
        const at = line.indexOf(":");
        return at === -1 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
    );
  return text.trim();
}

export function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function objectOf(text: string): Definition | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Definition) : undefined;
  } catch {
    return undefined;
  }
}
