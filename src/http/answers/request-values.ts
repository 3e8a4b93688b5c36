import { InvalidInput } from "../../protocol/base/errors.ts";

/** A JSON object of unknown content. */
export type JsonFields = { readonly [name: string]: unknown };

export function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Refuses the request, naming the parameter at fault. */
export function refuse(param: string, fault: string): never {
  throw new InvalidInput(`${param}: ${fault}`, { param });
}

export function bodyFields(body: unknown): JsonFields {
  if (!isFields(body)) refuse("body", "must be a JSON object");
  return body;
}

/** Which model or agent is asked. */
export function modelIn(body: JsonFields): string {
  return optionalString(body, "model") || refuse("model", "is required");
}

/** Absent and null mean the same to clients. */
export function optionalString(fields: JsonFields, name: string, within = ""): string | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") refuse(within + name, "must be a string");
  return value;
}

export function optionalBoolean(fields: JsonFields, name: string, within = ""): boolean | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== "boolean") refuse(within + name, "must be true or false");
  return value;
}

export function optionalFields(fields: JsonFields, name: string, within = ""): JsonFields | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && !isFields(value)) refuse(within + name, "must be an object");
  return value;
}

export function optionalStrings(
  fields: JsonFields,
  name: string,
  within = "",
  fault = "must be a list of strings",
): readonly string[] | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && !(Array.isArray(value) && value.every((each) => typeof each === "string")))
    refuse(within + name, fault);
  return value;
}

export type NumberRange = { readonly from?: number; readonly to?: number; readonly whole?: true };

export function optionalNumber(
  fields: JsonFields,
  name: string,
  range: NumberRange = {},
  within = "",
): number | undefined {
  const value = fields[name] ?? undefined;
  const at = within + name;
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) refuse(at, "must be a number");
  if (range.whole && !Number.isInteger(value)) refuse(at, "must be a whole number");
  if (range.from !== undefined && value < range.from) refuse(at, `must be at least ${range.from}`);
  if (range.to !== undefined && value > range.to) refuse(at, `must be at most ${range.to}`);
  return value;
}
