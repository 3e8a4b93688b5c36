import { z } from "zod";
import { endedCallSchema, openCallSchema, type ToolCallView } from "../../../protocol/threads/run-shapes.ts";
import { toolName } from "../../../tools/taiga/tool-names.ts";
import { endpoint } from "../../server/endpoint.ts";
import { resultOfCall } from "../../requests/tool-call-result.ts";
import { idempotencyOf } from "../../requests/run-headers.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { idSchema, jsonObjectSchema } from "../../../protocol/base/shapes.ts";
import { publicRun } from "../../../protocol/threads/public-views.ts";

export const callTool = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Call a tool",
  description:
    "A run of one call and no model: the same rights, approval, limits and records as a call that an agent makes. 200: it " +
    "has ended. 202: it goes on, or waits for what stands in `questions`. With the header `Idempotency-Key` the same request " +
    "sent again answers the first call.",
  params: z.object({ name: z.string() }),
  takesLong: true,
  body: z.strictObject({
    arguments: jsonObjectSchema.default({}),
    threadId: idSchema.optional().describe("A thread of yours; absent: one that is not listed"),
    wait: z.boolean().default(true).describe("false: answer at once"),
  }),
  keepsNumbers: true,
  answers: {
    200: endedCallSchema,
    202: openCallSchema,
  },
  async handle(call): Promise<ToolCallView> {
    const { params, body, caller, request, reply, services } = call;
    const { wait, arguments: given, threadId } = body;
    const started = await services.runs.callTool(caller, {
      tool: toolName(params.name),
      arguments: JSON.stringify(given),
      threadId,
      idempotency: idempotencyOf(request),
    });
    reply
      .header("location", `/api/runs/${started.runId}`)
      .header("x-colloquy-run", started.runId)
      .header("x-colloquy-thread", started.threadId);
    const result = wait ? await resultOfCall(call, started) : undefined;
    const run = publicRun(await services.runs.get(caller, started.runId));
    if (result) {
      const { content, isError, data, sources, untrusted } = result.body;
      return { run, result: { content, isError, data, sources, untrusted } };
    }
    reply.code(202);
    const questions = await services.approvals.questions(caller, started.runId);
    return { run, questions: questions.map(publicQuestion) };
  },
});
