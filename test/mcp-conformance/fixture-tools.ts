import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Tool } from "../../src/protocol/agents/tools.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const base64 = (text: string) => Buffer.from(text).toString("base64");

function fixture(name: string, execute: Parameters<typeof defineTool>[0]["execute"]): Tool {
  return defineTool({ name, description: `Fixture ${name}`, input: z.object({}), effect: "read", execute });
}

const image = { type: "image", mimeType: "image/png", data: png };

const jsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line no-thenable
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** What the suites call by name, as tools of the registry: each call is a run. */
export const fixtureTools: readonly Tool[] = [
  fixture("test_simple_text", () => "This is a simple text response for testing."),
  fixture("test_image_content", () => ({ content: "An image.", data: { media: [image] } })),
  fixture("test_audio_content", () => ({
    content: "A sound.",
    data: { media: [{ type: "audio", mimeType: "audio/wav", data: wav }] },
  })),
  fixture("test_embedded_resource", () => ({
    content: "A resource.",
    data: {
      media: [{ type: "resource", uri: "test://embedded-resource", mimeType: "text/plain", data: base64("embedded") }],
    },
  })),
  fixture("test_multiple_content_types", () => ({
    content: "Multiple content types test:",
    data: {
      media: [
        image,
        {
          type: "resource",
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          data: base64('{"test":"data","value":123}'),
        },
      ],
    },
  })),
  fixture("test_tool_with_progress", async (_input, { progress }) => {
    for (const percent of [0, 50, 100]) {
      progress(`${percent} %`);
      await sleep(50);
    }
    return "done";
  }),
  fixture("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  {
    ...fixture("json_schema_2020_12_tool", () => "ok"),
    input: z.looseObject({}),
    parameters: jsonSchema,
  },
];
