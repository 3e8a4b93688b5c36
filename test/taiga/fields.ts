import type { Body } from "./context.ts";
import { fieldErrors } from "./errors.ts";
import { byId } from "./world.ts";

/** A field of a body, checked and brought into the form in which it is kept; undefined when the body lacks it. */
type Check<Value> = (value: unknown) => Value;

class Wrong extends Error {}

/** Reads the fields of a body and gathers what is wrong with them, to refuse all at once. */
export class Fields {
  readonly #body: Body;
  readonly #errors: Record<string, readonly string[]> = {};

  constructor(body: Body) {
    this.#body = body;
  }

  optional<Value>(name: string, check: Check<Value>): Value | undefined {
    const value = this.#body[name];
    if (value === undefined) return undefined;
    try {
      return check(value);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.refuse(name, error.message);
      return undefined;
    }
  }

  required<Value>(name: string, check: Check<Value>): Value | undefined {
    const value = this.#body[name];
    if (value !== undefined && value !== null && value !== "") return this.optional(name, check);
    this.refuse(name, "This field is required.");
    return undefined;
  }

  refuse(name: string, text: string): void {
    this.#errors[name] = [text];
  }

  /** Throws what was wrong. */
  done(): void {
    if (Object.keys(this.#errors).length > 0) throw fieldErrors(this.#errors);
  }
}

export function line(maxLength = 500): Check<string> {
  return (value) => {
    const given = text(value);
    if (given === "") throw new Wrong("This field is required.");
    if (given.length <= maxLength) return given;
    throw new Wrong(`Ensure this value has at most ${maxLength} characters (it has ${given.length}).`);
  };
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "" : String(value);
}

export function bool(value: unknown): boolean {
  return value === true || value === "true" || value === "True" || value === "1" || value === 1;
}

export function whole(value: unknown): number {
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) throw new Wrong("Enter a whole number.");
  return number;
}

export function date(value: unknown): string {
  const given = text(value);
  if (/^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given))) return given;
  throw new Wrong("Date has wrong format. Use one of these formats instead: YYYY-MM-DD, MM/DD/YYYY, DD/MM/YYYY");
}

/** The id of a row that exists. */
export function idIn(table: readonly { readonly id: number }[]): Check<number> {
  return (value) => {
    if (typeof value !== "number" && typeof value !== "string") {
      throw new Wrong(`Incorrect type. Expected pk value, received ${Array.isArray(value) ? "list" : typeof value}.`);
    }
    const row = byId(table, value);
    if (!row) throw new Wrong(`Invalid pk '${value}' - object does not exist.`);
    return row.id;
  };
}

export function orNull<Value>(check: Check<Value>): Check<Value | null> {
  return (value) => (value === null || value === "" ? null : check(value));
}

/** Names or pairs of name and colour; names are kept in lower case, each once. */
export function tags(value: unknown): readonly string[] {
  const names = asList(value).map((tag) => {
    const [name, color] = asPair(tag);
    if (typeof name !== "string") {
      throw new Wrong(`Invalid tag '${String(tag)}'. it must be the name or a pair '["name", "hex color/" | null]'.`);
    }
    if (color !== null && color !== "" && !(typeof color === "string" && hexColor.test(color))) {
      throw new Wrong(`Invalid tag '${String(tag)}'. The color is not a valid HEX color or null.`);
    }
    return name.toLowerCase();
  });
  return [...new Set(names)];
}

/** The colours among valid tags, by name. */
export function tagColors(value: unknown): Readonly<Record<string, string>> {
  const pairs = asList(value).map(asPair);
  const colored = pairs.filter(([, color]) => typeof color === "string" && color !== "");
  return Object.fromEntries(colored.map(([name, color]) => [text(name).toLowerCase(), text(color)]));
}

const hexColor = /^#([a-f0-9]{6}|[a-f0-9]{3})$/i;

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function asPair(tag: unknown): readonly [unknown, unknown] {
  return Array.isArray(tag) && tag.length === 2 ? [tag[0] as unknown, tag[1] as unknown] : [tag, null];
}

export function externalReference(value: unknown): readonly string[] | null {
  if (value === null) return null;
  if (!Array.isArray(value)) throw new Wrong("Invalid value.");
  return value.map(text);
}

export function idsByRole(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
