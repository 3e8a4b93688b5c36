import { tellLeftOut } from "../../answers/left-out.ts";
import type { AgentDefinition } from "../../../protocol/agents/agents.ts";
import { InvalidInput, messageOf } from "../../../protocol/base/errors.ts";
import type { RunStart, StartInput } from "../../../run/runs.ts";
import { unknownModel } from "../../answers/answer.ts";
import type { AnswerRequest } from "../../answers/answer-request.ts";
import { startOrContinue, tellRun } from "../../answers/ask-agent.ts";
import { askModel } from "../../answers/ask-model.ts";
import { bareAgent } from "../../../protocol/agents/bare-agent.ts";
import type { JsonFields } from "../../answers/request-values.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { answerApprovals, continuationOf } from "./continue-response.ts";
import { answerRequest, decodeResponseRequest, type ResponseRequest } from "./decode.ts";
import { checkResults, decodeInput, type DecodedInput } from "./decode-input.ts";
import { type DecodedTools, decodeTools } from "./decode-tools.ts";
import { hostedTools } from "./hosted-tools.ts";
import { findResponse, begunAt, readResponse } from "./kept-response.ts";
import { withNamedItems } from "./named-items.ts";
import { createSentFiles } from "./sent-files.ts";
import { echoOf, echoOfRun } from "./response-object.ts";
import { keptHead, passingHead, responseWire } from "./wire.ts";

/** A model that nothing is kept of is asked straight; all else is a durable run, which the response is. */
export async function createResponse(call: EndpointCall): Promise<string | object | undefined> {
  const { services, caller, reply } = call;
  const asked = decodeResponseRequest(call.body);
  const isModel = services.models.has(asked.model);
  if (!isModel && !services.agents.has(asked.model)) throw unknownModel(asked.model, services);
  const files = createSentFiles();
  const input = decodeInput(await withNamedItems(call, asked.items), files.keep);
  const tools = decodeTools(asked.body, input.tools);
  const agent = isModel ? undefined : services.agents.get(asked.model);
  const request = await files.resolve(call, readRequest(call, { asked, input, tools, agent }));
  if (asked.stream) call.streams.admit(reply, caller.userId);

  const echo = echoOf(asked.body, tools.told, asked.conversation);
  const isKept = asked.store || asked.background || asked.previous !== undefined || asked.conversation !== undefined;
  if (isModel && !isKept) {
    checkResults(input);
    return askModel(call, toldStraight(request), responseWire(passingHead(echo), { isKept: false }));
  }
  const started = await begin(call, { asked, input, request, echo, agent });
  const { begunWith } = started;
  return tellResponse(call, asked, { started, echo: begunWith ? echoOfRun(begunWith.options, echo) : echo, request });
}

/** As a model is told it that is asked straight. */
function toldStraight({ instructions, ...request }: AnswerRequest): AnswerRequest {
  const messages = request.messages.map((message) =>
    message.role === "system" ? { role: message.role, content: message.content } : message,
  );
  const before = instructions === undefined ? [] : [{ role: "system" as const, content: instructions }];
  return { ...request, messages: [...before, ...messages] };
}

type DecodedRequest = {
  readonly asked: ResponseRequest;
  readonly input: DecodedInput;
  readonly agent: AgentDefinition | undefined;
};

function readRequest(
  call: EndpointCall,
  { asked, input, tools, agent }: DecodedRequest & { readonly tools: DecodedTools },
): AnswerRequest {
  const { leftOut, toolChoice } = hostedTools(call, agent, tools);
  tellLeftOut(call.reply, [...asked.leftOut, ...leftOut]);
  const read = answerRequest(asked, input, tools);
  return toolChoice === undefined ? read : { ...read, toolChoice };
}

async function begin(
  call: EndpointCall,
  {
    asked,
    input,
    request,
    echo,
    agent,
  }: DecodedRequest & { readonly request: AnswerRequest; readonly echo: JsonFields },
): Promise<RunStart> {
  if (input.approvals.length > 0) return answerApprovals(call, input.approvals);
  checkResults(input);
  const place = await continuationOf(call, asked, input);
  const more: Pick<StartInput, "as" | "held" | "transient"> = {
    ...(agent ? {} : { as: bareAgent(asked.model) }),
    ...(asked.background && { held: false }),
    ...(!asked.store && { transient: true }),
  };
  const kept = { ...request, echo: { ...echo, model: asked.model } };
  return startOrContinue(call, kept, place, more).catch((error: unknown) => {
    throw error instanceof InvalidInput && error.detail.param === "messages"
      ? new InvalidInput(error.message, { ...error.detail, param: "input", cause: error })
      : error;
  });
}

async function tellResponse(
  call: EndpointCall,
  asked: ResponseRequest,
  { started, echo, request }: { started: RunStart; echo: JsonFields; request: AnswerRequest },
): Promise<string | object | undefined> {
  const { services, caller, reply } = call;
  const { runId, threadId } = started;
  const place = { runId, seq: started.cursor.seq };
  const wire = responseWire(keptHead(place, echo), { isKept: true, isQueued: asked.background });
  reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
  if (asked.background && !asked.stream) return readResponse(call, await findResponse(call, keptHead(place, echo).id));
  const begun = started.replayed ? await begunAt(call, { id: runId, threadId }, place.seq) : [];
  const isOwnThread = asked.conversation === undefined && asked.previous === undefined;
  return tellRun(
    call,
    {
      ...request,
      started,
      begun,
      isPatient: asked.background,
      onEnd({ status }) {
        if (asked.store || !isOwnThread || status === "waiting" || status === "running") return;
        services.threads.deleteThread(caller, threadId).catch((error: unknown) => {
          call.request.log.warn({ err: error }, "a thread that was not to be kept is still there: " + messageOf(error));
        });
      },
    },
    wire,
  );
}
