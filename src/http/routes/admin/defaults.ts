import { z } from "zod";
import { defaultKinds, defaultSchema } from "../../../protocol/agents/definitions.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { listOf } from "../../shapes/schemas.ts";

const params = z.object({ of: z.enum(defaultKinds) });

export const listDefaults = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Which agent answers and which model thinks where none is named",
  answers: { 200: listOf(defaultSchema) },
  handle({ services: { definitions } }) {
    return { data: defaultKinds.map(definitions.readDefault) };
  },
});

export const setDefault = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Set the default agent or model",
  description:
    "The model `default` stands for this one from the next step on. 409 (`read_only`): the configuration says it.",
  params,
  body: z.strictObject({ value: z.string().min(1).max(200), revision: idSchema.optional() }),
  answers: { 200: defaultSchema },
  handle({ params: { of }, body, caller, services: { definitions } }) {
    return definitions.setDefault(of, body, caller);
  },
});

export const clearDefault = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Leave the default agent or model to the server again",
  params,
  answers: { 200: defaultSchema },
  handle({ params: { of }, caller, services: { definitions } }) {
    return definitions.setDefault(of, { value: undefined }, caller);
  },
});
