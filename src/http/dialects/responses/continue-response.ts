import { Conflict, InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { isEnded } from "../../../protocol/threads/runs.ts";
import type { ItemOf } from "../../../protocol/threads/items.ts";
import type { RunStart } from "../../../run/runs.ts";
import type { KeptPlace } from "../../answers/agent-request.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { ApprovalAnswer, DecodedInput } from "./decode-input.ts";
import { questionOfApproval, threadOfConversation } from "./ids.ts";
import { clientCallsIn, findResponse, type KeptResponse, readResponse } from "./kept-response.ts";
import type { ResponseRequest } from "./decode.ts";

/** Where an answer goes on. Throws NotFound for what is not the caller's, InvalidInput for calls of the response before that have no result. */
export async function continuationOf(
  call: EndpointCall,
  { previous, conversation, store }: ResponseRequest,
  input: DecodedInput,
): Promise<KeptPlace | undefined> {
  if (conversation !== undefined) {
    const threadId = threadOfConversation(conversation, "conversation");
    await call.services.threads.getThread(call.caller, threadId);
    return { sessionKey: threadId };
  }
  if (previous === undefined) return undefined;
  const kept = await findResponse(call, previous, "previous_response_id");
  const { run } = kept;
  if (store && isTransient(kept))
    throw new InvalidInput(
      `The response ${kept.id} is not kept (store: false), so nothing that is kept can follow it.`,
      {
        param: "previous_response_id",
      },
    );
  const { threadId } = run;
  if (run.status === "waiting" && run.waitReason === "client") await checkResultsOf(call, kept, input);
  // One that still works is followed by what waits for its turn.
  return isEnded(run.status) ? { threadId, follows: run.id } : { sessionKey: threadId };
}

/** It began a thread that goes with it. */
function isTransient({ echo }: KeptResponse): boolean {
  return echo["store"] === false && echo["conversation"] === undefined && echo["previous_response_id"] === undefined;
}

async function checkResultsOf(call: EndpointCall, kept: KeptResponse, { results }: DecodedInput): Promise<void> {
  const open = clientCallsIn(await readResponse(call, kept)).filter((id) => !results.has(id));
  if (open.length > 0)
    throw new InvalidInput(`No tool output found for function call ${open.join(", ")}.`, { param: "input" });
}

/**
 * Answers the approvals that were asked for; the run is followed from its questions on. Throws NotFound for what nobody waits for
 * any more.
 */
export async function answerApprovals(
  { services, caller }: EndpointCall,
  approvals: readonly ApprovalAnswer[],
): Promise<RunStart> {
  const open = await services.approvals.questions(caller);
  const questions = approvals.map(({ approvalId }) => {
    const id = questionOfApproval(approvalId);
    const question = open.find((each) => each.id === id && each.body.reason === "approval");
    if (!question)
      throw new NotFound(`No approval ${approvalId.slice(0, 100)} is waited for.`, {
        param: "input",
        code: "approval_not_found",
      });
    return question;
  });
  const { id: runId, threadId } = await rootOf({ services, caller }, questions[0]!);
  const before = await services.runs.placeOf(caller, runId);
  for (const [index, question] of questions.entries()) {
    const { approve, reason } = approvals[index]!;
    const input = {
      decision: approve ? ("allow" as const) : ("deny" as const),
      ...(reason !== undefined && { text: reason }),
    };
    await services.approvals.decide(caller, question.runId!, { questionId: question.id, input });
  }
  const asked = questions.filter((question) => question.threadId === threadId).map(({ seq }) => seq);
  const seq = asked.length > 0 ? Math.min(...asked) - 1 : before.lastSeq;
  return { runId, threadId, cursor: { seq, live: [] }, pending: false, replayed: true };
}

async function rootOf({ services, caller }: Pick<EndpointCall, "services" | "caller">, question: ItemOf<"question">) {
  const asking = await services.runs.get(caller, question.runId!);
  const root = asking.rootRun === asking.id ? asking : await services.runs.get(caller, asking.rootRun);
  if (isEnded(root.status)) throw new Conflict(`Run ${root.id} has ended.`, { code: "run_ended" });
  return root;
}
