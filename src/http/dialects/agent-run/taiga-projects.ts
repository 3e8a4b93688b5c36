import { z } from "zod";
import {
  type TaigaToken,
  taigaTokenSchema,
  type TaigaProjects,
  taigaProjectsSchema,
  type TaigaRun,
  taigaRunSchema,
  taigaSchema,
  type TaigaSprints,
  taigaSprintsSchema,
  type TaigaView,
} from "../../../protocol/threads/taiga.ts";
import type { TaigaSessions } from "../../../tools/taiga/project-choices.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { listOf } from "../../shapes/schemas.ts";
import { noToken, notConfigured, refusalOf, tokenOf } from "./enter-project.ts";
import { agentId, tokenHeaders } from "./schemas.ts";

const deskMs = 15_000;
const maxRuns = 20;

const search = z.string().max(200).optional().describe("A part of the name");

export const describeTaiga = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Whether there is a Taiga here, and how you come in",
  answers: { 200: taigaSchema },
  handle({ caller, services: { taigaSessions } }): TaigaView {
    return {
      configured: taigaSessions !== undefined,
      needsToken: !(taigaSessions?.hasLogin && caller.role === "admin"),
    };
  },
});

export const signInToTaiga = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "Sign in to Taiga, for clients that can't reach it themselves",
  description: "Passes name and password to Taiga and returns its answer; stores nothing.",
  body: z.strictObject({ username: z.string().min(1).max(255), password: z.string().min(1).max(1000) }),
  answers: { 200: taigaTokenSchema },
  async handle({ body: { username, password }, services, reply }): Promise<TaigaToken> {
    const desk = services.taigaSessions ?? notConfigured();
    reply.header("cache-control", "no-store");
    try {
      return await desk.signIn(username, password);
    } catch (error) {
      throw refusalOf(error, true);
    }
  },
});

export const listTaigaProjects = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the Taiga projects that you work in",
  description: tokenHeaders,
  query: z.object({ search }),
  answers: { 200: taigaProjectsSchema },
  handle: (call): Promise<TaigaProjects> =>
    atDesk(call, (desk, token, signal) => desk.projects(token, { text: call.query.search, signal })),
});

export const listTaigaSprints = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the sprints of a Taiga project, the newest first",
  description: tokenHeaders,
  query: z.object({ project: z.string().min(1).max(500).describe("The project's slug or number"), search }),
  answers: { 200: taigaSprintsSchema },
  async handle(call): Promise<TaigaSprints> {
    const { query } = call;
    const { project, ...found } = await atDesk(call, (desk, token, signal) =>
      desk.sprints(token, query.project, { text: query.search, signal }),
    );
    const { id, slug, name, permissions } = project;
    const missing = ["add_us", "add_task"].filter((right) => !permissions.includes(right));
    return { ...found, project: { id, slug, name }, missing };
  },
});

export const listTaigaRuns = endpoint({
  needs: "threads:list",
  tag: "agents",
  summary: "List your latest runs in Taiga, newest first",
  description: "Runs without a session are kept for some days.",
  answers: { 200: listOf(taigaRunSchema) },
  async handle({ caller, services: { runs, threads } }) {
    const found = await runs.list(caller, { agent: agentId, isRoot: true, limit: maxRuns });
    const titles = await Promise.all(
      found.map(async ({ threadId }) => (await threads.getThread(caller, threadId)).title),
    );
    return {
      data: found.map(({ id, status, createdAt }, at): TaigaRun => ({ id, title: titles[at]!, status, createdAt })),
    };
  },
});

async function atDesk<Answer>(
  { services, caller, request }: Pick<EndpointCall, "services" | "caller" | "request">,
  work: (desk: TaigaSessions, token: string | undefined, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const desk = services.taigaSessions ?? notConfigured();
  // What would renew it is left with the client: renewed here, the client's own would be worth nothing.
  const token = tokenOf(request)?.token;
  if (token === undefined && caller.role !== "admin") throw noToken();
  try {
    return await work(desk, token, AbortSignal.timeout(deskMs));
  } catch (error) {
    throw refusalOf(error, token !== undefined);
  }
}
