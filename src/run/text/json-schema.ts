import { runInNewContext } from "node:vm";
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { InvalidInput, messageOf } from "../../protocol/base/errors.ts";
import type { JsonSchema } from "../../protocol/agents/models.ts";
import { isObject } from "./lenient-json.ts";

/** Returns short descriptions of what is wrong with a value; empty: nothing. Throws if the check can't be completed. */
export type SchemaCheck = (value: unknown) => readonly string[];

const maxCharacters = 64_000;
const deepest = 64;
/** A pattern of a caller's may take for ever on the right text, and this thread is everybody's. */
const maxMs = 250;
/** Runs no pattern and is bounded by the schema's size; on a busy machine the first one takes its time. */
const maxMsToCompile = 3000;
const maxProblems = 5;
const maxKept = 64;

const kept = new Map<string, SchemaCheck>();

/** Throws InvalidInput `invalid_schema` if nothing could be checked by it. */
export function schemaCheck(schema: JsonSchema): SchemaCheck {
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known) return known;
  const check = compile(schema, text);
  const [oldest] = kept.keys();
  if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
  kept.set(text, check);
  return check;
}

function compile(schema: JsonSchema, text: string): SchemaCheck {
  if (text.length > maxCharacters)
    throw unusable(`it has ${text.length} characters, and ${maxCharacters} are the most`);
  const traits: Traits = { tuples: false };
  const plain = normalised(schema, traits, 0);
  if (!isObject(plain)) throw unusable("it is no object");
  if (plain["$async"] !== undefined) throw unusable("$async is not known");
  const { $schema: dialect, ...rest } = plain;
  const isOld = traits.tuples || (typeof dialect === "string" && dialect.includes("draft-0"));
  try {
    // An instance keeps all that it has compiled, so each schema has its own.
    const validate = inTime(() => (isOld ? new Ajv(options) : new Ajv2020(options)).compile(rest), maxMsToCompile);
    return (value) => (inTime(() => validate(value)) ? [] : problemsOf(validate.errors ?? []));
  } catch (error) {
    throw unusable(messageOf(error), error);
  }
}

const options: Options = {
  strict: false,
  allErrors: true,
  // The standard treats formats as annotations; patterns for them are not worth their risk.
  validateFormats: false,
  inlineRefs: false,
  logger: false,
  code: { regExp: Object.assign(pattern, { code: "new RegExp" }) },
};

/** In many schemas signs are escaped that Unicode patterns don't allow to be. */
function pattern(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    return new RegExp(source);
  }
}

type Traits = { tuples: boolean };

/** Keywords whose values are data, not schemas. */
const data = new Set(["const", "enum", "default", "examples", "example"]);

/** Without what is common in practice but no schema language: OpenAPI's `nullable` where there is no `type`. */
function normalised(node: unknown, traits: Traits, depth: number): unknown {
  if (depth > deepest) throw unusable(`it is nested more than ${deepest} deep`);
  if (Array.isArray(node)) return node.map((each) => normalised(each, traits, depth + 1));
  if (!isObject(node)) return node;
  if (Array.isArray(node["items"])) traits.tuples = true;
  const entries = Object.entries(node).filter(
    ([name, value]) => name !== "nullable" || typeof value !== "boolean" || node["type"] !== undefined,
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [name, data.has(name) ? value : normalised(value, traits, depth + 1)]),
  );
}

/** The only way to stop a pattern that goes on and on. */
function inTime<Value>(work: () => Value, timeout = maxMs): Value {
  return runInNewContext("work()", { work }, { timeout }) as Value;
}

function problemsOf(errors: readonly ErrorObject[]): readonly string[] {
  const problems = new Set(errors.map(problemOf));
  return [...problems].slice(0, maxProblems);
}

function problemOf({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = instancePath === "" ? "the answer" : instancePath;
  if (keyword === "enum") return `${place} must be one of ${JSON.stringify(params["allowedValues"]).slice(0, 200)}`;
  if (keyword === "const") return `${place} must be ${JSON.stringify(params["allowedValue"]).slice(0, 200)}`;
  if (keyword === "additionalProperties")
    return `${place} must not have ${JSON.stringify(params["additionalProperty"])}`;
  return `${place} ${message ?? `breaks ${keyword}`}`;
}

function unusable(why: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The JSON Schema of the response format can't be used: ${why}.`, {
    code: "invalid_schema",
    param: "response_format",
    cause,
  });
}
