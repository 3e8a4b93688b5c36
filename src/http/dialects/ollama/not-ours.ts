import { z } from "zod";
import { ColloquyError } from "../../../protocol/base/errors.ts";
import { bodyFields } from "../../answers/request-values.ts";
import { endpoint, type Endpoint } from "../../server/endpoint.ts";
import { modelOf } from "./decode.ts";
import { findServed } from "./served-models.ts";

const advice =
  "Models of this server are named in colloquy.yaml or under Administration → Models, and lie where they are served: change them there, such as with `ollama` itself.";

function notOurs(what: string): ColloquyError {
  return new ColloquyError("not_offered", 501, `Colloquy ${what}. ${advice}`);
}

/** What Ollama does to its files, of which this server has none. */
function refused(summary: string, what: string, more: Pick<Endpoint, "takesBody"> = {}): Endpoint {
  return endpoint({
    needs: "nothing",
    open: () => true,
    tag: "Ollama",
    summary: `${summary}: not offered`,
    ...more,
    answers: {},
    handle() {
      throw notOurs(what);
    },
  });
}

export const ollamaPush = refused("Publish a model", "publishes no models");
export const ollamaCreate = refused("Make a model", "makes no models; an agent is a Markdown file in agents/");
export const ollamaCopy = refused("Copy a model", "copies no models");
export const ollamaDelete = refused("Delete a model", "deletes no models");
export const ollamaBlob = refused("Upload a part of a model", "takes no parts of models", { takesBody: "any" });

/** Programs pull a model before they ask it: one that is here needs no pulling. */
export const ollamaPull = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Fetch a model: done already for those that are here, else not offered",
  body: z.looseObject({ model: z.string().optional(), name: z.string().optional() }),
  decodesBody: true,
  answers: { 200: z.object({ status: z.literal("success") }) },
  async handle({ body, services, caller }) {
    const asked = modelOf(bodyFields(body));
    const isHere =
      findServed(asked, services) !== undefined || (await services.embeddingModels.list(caller)).includes(asked);
    if (!isHere) throw notOurs("fetches no models");
    return { status: "success" };
  },
});
