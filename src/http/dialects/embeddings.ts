import { z } from "zod";
import { embedTexts, textsOf } from "../answers/embed-texts.ts";
import { bodyFields, modelIn, optionalNumber, optionalString, refuse } from "../answers/request-values.ts";
import { endpoint } from "../server/endpoint.ts";

/** For the document only: the body is read by hand, so that what is wrong is told in the words of the parameter. */
const bodySchema = z.looseObject({
  model: z.string().describe("An embedding model, such as `http:nomic-embed-text`, or its name alone."),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2048)]),
  dimensions: z.int().positive().optional().describe("Fewer numbers than the model makes"),
  encoding_format: z.enum(["float", "base64"]).optional(),
});

export const createEmbeddings = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Embed texts",
  description: "OpenAI's embeddings, by the embedding models that collections of documents use.",
  takesLong: true,
  body: bodySchema,
  decodesBody: true,
  answers: {
    200: z.object({
      object: z.literal("list"),
      model: z.string(),
      data: z.array(
        z.object({
          object: z.literal("embedding"),
          index: z.int(),
          embedding: z.union([z.array(z.number()), z.string().describe("Its floats in base64, little-endian")]),
        }),
      ),
      usage: z
        .object({ prompt_tokens: z.int(), total_tokens: z.int() })
        .describe("About how many: embedding models do not say"),
    }),
  },
  async handle(call) {
    const body = bodyFields(call.body);
    const model = modelIn(body);
    const texts = textsOf(body["input"]);
    if (texts.length === 0) refuse("input", "must be a text or a list of texts");
    const format = optionalString(body, "encoding_format") ?? "float";
    if (format !== "float" && format !== "base64") refuse("encoding_format", "must be float or base64");
    const dimensions = optionalNumber(body, "dimensions", { from: 1, whole: true });
    const { vectors, tokens } = await embedTexts(call, { model, texts, dimensions });
    const data = vectors.map((vector, index) => ({
      object: "embedding" as const,
      index,
      embedding: format === "base64" ? base64Of(vector) : [...vector],
    }));
    return { object: "list", model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  },
});

function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
