import { NotFound } from "../../protocol/base/errors.ts";
import type { RunStart } from "../../run/runs.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import type { Services } from "../server/services.ts";
import type { AnswerRequest } from "./answer-request.ts";
import type { AnswerWire } from "./answer-wire.ts";
import { askAgent } from "./ask-agent.ts";
import { askModel } from "./ask-model.ts";
import { tellLeftOut } from "./left-out.ts";
import { resolveFiles } from "./attach.ts";

/** Answers in a dialect's wire: a model is asked directly, an agent by a durable run. Throws NotFound if there is neither. */
export async function answer(
  call: EndpointCall,
  request: AnswerRequest,
  wireOf: (started?: RunStart) => AnswerWire,
): Promise<string | undefined> {
  const asked = await resolveFiles(call, request);
  const { models, agents } = call.services;
  if (asked.stream) call.streams.admit(call.reply, call.caller.userId);
  if (models.has(asked.model)) return askModel(call, asked, wireOf());
  if (asked.extra && agents.has(asked.model)) tellLeftOut(call.reply, Object.keys(asked.extra));
  if (agents.has(asked.model)) return askAgent(call, asked, wireOf);
  throw unknownModel(asked.model, call.services);
}

export function unknownModel(name: string, services: Pick<Services, "agents" | "models">): NotFound {
  const known = [...services.agents.list(), ...services.models.list()].map((entry) => entry.id);
  return new NotFound(
    `Model or agent ${JSON.stringify(name.slice(0, 100))} not found. Available: ${known.join(", ")}.`,
    {
      code: "model_not_found",
      param: "model",
    },
  );
}
