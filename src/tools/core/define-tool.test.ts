import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { defineTool } from "./define-tool.ts";

const weather = {
  name: "weather",
  description: " The weather of a place. ",
  input: z.object({
    place: z.string().trim().min(1).describe("A town"),
    days: z.int().positive().default(1),
    at: z.object({ lat: z.number(), lon: z.number() }).optional(),
  }),
  effect: "read",
  execute: () => "fine",
} as const;

function isInvalidTool(pattern: RegExp) {
  return (error: unknown): boolean =>
    error instanceof InvalidInput && error.code === "invalid_tool" && pattern.test(error.message);
}

test("fills in what the author left out", () => {
  const { input: _, execute: __, ...tool } = defineTool(weather);
  assert.deepEqual(tool, {
    name: "weather",
    description: "The weather of a place.",
    parameters: {
      type: "object",
      properties: {
        place: { type: "string", minLength: 1, description: "A town" },
        days: { type: "integer", exclusiveMinimum: 0, default: 1 },
        at: {
          type: "object",
          properties: { lat: { type: "number" }, lon: { type: "number" } },
          required: ["lat", "lon"],
          additionalProperties: false,
        },
      },
      required: ["place"],
      additionalProperties: false,
    },
    effect: "read",
    scope: "remote",
    destructive: false,
    sendsOut: false,
    permissions: [],
    idempotent: false,
    timeoutMs: 60_000,
    source: "built-in",
  });
});

test("execute is typed by the schema", () => {
  defineTool({
    ...weather,
    execute: ({ place, days, at }) => `${place.toUpperCase()} ${days.toFixed()} ${at?.lat.toFixed()}`,
  });
  // @ts-expect-error there is no such argument
  defineTool({ ...weather, execute: ({ town }) => String(town) });
});

test("unknown arguments are refused, also beside a refinement, unless the schema takes them", () => {
  const place = { place: "Rome", colour: "red" };
  assert.equal(defineTool(weather).input.safeParse(place).success, false);
  const refined = z.object({ place: z.string() }).refine((input) => input.place !== "Nowhere", "no such place");
  const tool = defineTool({ ...weather, input: refined });
  assert.equal(tool.input.safeParse(place).success, false);
  assert.equal(tool.input.safeParse({ place: "Nowhere" }).success, false);
  assert.equal(tool.input.safeParse({ place: "Rome" }).success, true);
  const loose = defineTool({ ...weather, input: z.looseObject({ place: z.string() }) });
  assert.deepEqual(loose.input.parse(place), place);
});

test("lists all that is wrong with a definition", () => {
  const define = (change: object) => () => defineTool({ ...weather, ...change });
  assert.throws(define({ name: "1st tool", description: " " }), isInvalidTool(/must be a letter.*needs a description/));
  assert.throws(define({ name: "x".repeat(65) }), isInvalidTool(/at most 63/));
  assert.throws(define({ effect: "delete" }), isInvalidTool(/'read' or 'write'/));
  assert.throws(define({ scope: "global" }), isInvalidTool(/scope/));
  assert.throws(define({ execute: undefined }), isInvalidTool(/execute/));
  for (const timeoutMs of [0, -1, NaN, 2 ** 31]) assert.throws(define({ timeoutMs }), isInvalidTool(/timeoutMs/));
  assert.throws(define({ input: { place: "string" } }), isInvalidTool(/zod object/));
  assert.throws(define({ input: z.string() }), isInvalidTool(/zod object/));
  assert.throws(define({ input: z.object({ day: z.date() }) }), isInvalidTool(/JSON Schema: Date/));
});

test("a local tool can neither send out nor need a second try", () => {
  const local = { ...weather, scope: "local", effect: "write" } as const;
  assert.equal(defineTool(local).scope, "local");
  assert.throws(() => defineTool({ ...local, sendsOut: true }), isInvalidTool(/can't send/));
  assert.throws(() => defineTool({ ...local, idempotent: true }), isInvalidTool(/exactly once/));
  assert.throws(() => defineTool({ ...local, reconcile: async () => undefined }), isInvalidTool(/exactly once/));
});
