import { z } from "zod";
import { runSchema, questionSchema, grantSchema } from "../../../protocol/threads/run-shapes.ts";
import { decisionInputSchema } from "../../shapes/decision-input.ts";
import { endpoint } from "../../server/endpoint.ts";
import { publicQuestion } from "../../shapes/question-view.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicRun } from "../../../protocol/threads/public-views.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

export const listQuestions = endpoint({
  needs: "threads:list",
  tag: "runs",
  summary: "List the open questions of your runs, oldest first",
  answers: { 200: listOf(questionSchema) },
  async handle({ caller, services }) {
    return { data: (await services.approvals.questions(caller)).map(publicQuestion) };
  },
});

export const listQuestionsOfRun = endpoint({
  needs: ["threads:read", "own"],
  tag: "runs",
  summary: "List the open questions of a run",
  params: idParams,
  answers: { 200: listOf(questionSchema) },
  async handle({ params, caller, services }) {
    await services.runs.get(caller, params.id);
    return { data: (await services.approvals.questions(caller, params.id)).map(publicQuestion) };
  },
});

export const decide = endpoint({
  needs: "threads:write",
  tag: "runs",
  summary: "Answer a question",
  description:
    "The run goes on when none of its questions is open any more. 409: it was answered before (`already_decided`), the run " +
    "does not wait (`run_not_waiting`), or the arguments are not the ones you saw (`arguments_changed`).",
  params: z.object({ id: idSchema, item: idSchema.describe("The question's id") }),
  body: decisionInputSchema,
  answers: { 200: runSchema },
  async handle({ params, body, caller, services }) {
    return publicRun(await services.approvals.decide(caller, params.id, { questionId: params.item, input: body }));
  },
});

export const continueRun = endpoint({
  needs: "threads:write",
  tag: "runs",
  summary: "Continue a run past the limit at which it waits",
  description: "It gets as much again of that limit. 409 (`nothing_to_continue`): it does not wait at one.",
  params: idParams,
  answers: { 200: runSchema },
  async handle({ params, caller, services }) {
    return publicRun(await services.runs.continue(caller, params.id));
  },
});

export const listGrants = endpoint({
  needs: "threads:list",
  tag: "runs",
  summary: "List the calls that you always allow",
  answers: { 200: listOf(grantSchema) },
  async handle({ caller, services }) {
    return { data: await services.approvals.grants(caller) };
  },
});

export const removeGrant = endpoint({
  needs: "threads:write",
  tag: "runs",
  summary: "Be asked again",
  description: "These calls need approval again from now on.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.approvals.removeGrant(caller, params.id);
    reply.code(204);
  },
});
