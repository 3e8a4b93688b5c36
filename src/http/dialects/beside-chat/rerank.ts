import { z } from "zod";
import { estimate } from "../../../run/log/estimate-tokens.ts";
import { passedFields, passRequest } from "../../answers/pass-request.ts";
import {
  bodyFields,
  isFields,
  type JsonFields,
  modelIn,
  optionalNumber,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import { endpoint } from "../../server/endpoint.ts";
import { jsonBody } from "./json-body.ts";

const mostDocuments = 1000;
const path = "rerank";

export const rerank = endpoint({
  needs: "ask",
  tag: "OpenAI",
  summary: "Order texts by how well they answer a question",
  description: "As Cohere, Jina and vLLM know it; passed on to the model's server, whose answer it is.",
  takesLong: true,
  body: z.looseObject({
    model: z.string(),
    query: z.string(),
    documents: z
      .array(z.union([z.string(), z.looseObject({ text: z.string() })]))
      .min(1)
      .max(mostDocuments),
    top_n: z.int().positive().optional(),
  }),
  decodesBody: true,
  answers: { 200: z.looseObject({ results: z.array(z.looseObject({})) }) },
  async handle(call) {
    const body = bodyFields(call.body);
    const model = modelIn(body);
    const query = optionalString(body, "query");
    if (!query) refuse("query", "is required");
    const texts = textsIn(body["documents"]);
    optionalNumber(body, "top_n", { from: 1, whole: true });
    const tokens = estimate(query) + texts.reduce((sum, text) => sum + estimate(text), 0);
    const asked = { model, path, tokens, bodyFor: jsonBody(body) } as const;
    const answer = passedFields(await passRequest(call, asked), asked);
    return { ...answer, results: Array.isArray(answer["results"]) ? answer["results"].filter(isFields) : [] };
  },
});

function textsIn(documents: unknown): readonly string[] {
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > mostDocuments)
    refuse("documents", `must be a list of 1 to ${mostDocuments} texts`);
  return documents.map((document: unknown, index) => {
    const text = isFields(document) ? (document as JsonFields)["text"] : document;
    if (typeof text !== "string") refuse(`documents[${index}]`, "must be a text, or an object with one");
    return text;
  });
}
