import { z } from "zod";
import { sessionMessage } from "../../run/threads/session-file.ts";
import type { SessionRecord } from "../../run/runs.ts";
import { type EndpointCall, endpoint } from "../server/endpoint.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";

const maxMessages = 5000;
const sessionParams = z.object({ id: z.string().min(1).max(255) });
const time = z.string().describe("ISO 8601");
const sessionSchema = z.object({
  id: z.string(),
  session_id: z.string(),
  thread_id: z.string(),
  username: z.string(),
  title: z.string(),
  created_at: time,
  updated_at: time,
  message_count: z.int(),
  archived: z.boolean(),
});
const historySchema = z.object({
  session_id: z.string(),
  title: z.string(),
  updated_at: time,
  message_count: z.int(),
  messages: z.array(z.object({ role: z.enum(["user", "assistant"]), content: z.string(), timestamp: time })),
});

export const listSessions = endpoint({
  needs: "threads:list",
  tag: "chat",
  summary: "List your sessions, the last used first",
  query: z.object({
    limit: z.coerce.number().int().min(1).max(500).default(50),
    offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    archived: z.enum(["true", "false"]).optional(),
  }),
  answers: { 200: z.object({ sessions: z.array(sessionSchema) }) },
  async handle({ query: { limit, offset, archived }, caller, services }) {
    const sessions = await services.threads.listSessions(caller, { limit, offset, archived: archived === "true" });
    return { sessions: sessions.map((session) => view(session, caller.name)) };
  },
});

export const createSession = endpoint({
  needs: ["ask", "threads:write"],
  tag: "chat",
  summary: "Begin a session",
  description:
    "A chat request with a `session_id` that is new begins one as well. 409 `session_exists`: the name is taken.",
  body: z
    .strictObject({ session_id: z.string().min(1).max(255).optional(), title: z.string().max(500).optional() })
    .nullish(),
  answers: { 201: sessionSchema },
  async handle({ body, caller, reply, services }) {
    const { session_id: id, title } = body ?? {};
    reply.code(201);
    const input = { ...(id !== undefined && { id }), ...(title !== undefined && { title }) };
    return view(await services.threads.createSession(caller, input), caller.name);
  },
});

export const changeSession = endpoint({
  needs: "threads:write",
  tag: "chat",
  summary: "Rename or archive a session",
  params: sessionParams,
  body: z.strictObject({ title: z.string().max(500).optional(), archived: z.boolean().optional() }),
  answers: { 200: sessionSchema },
  async handle({ params, body: { title, archived }, caller, services: { threads } }) {
    const { threadId } = await threads.getSession(caller, params.id);
    if (title !== undefined) await threads.renameThread(caller, threadId, title);
    if (archived !== undefined) await threads.archiveThread(caller, threadId, archived);
    return view(await threads.getSession(caller, params.id), caller.name);
  },
});

export const deleteSession = endpoint({
  needs: "threads:delete",
  tag: "chat",
  summary: "Delete a session with all that was said and made in it",
  params: sessionParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services: { threads } }) {
    await threads.deleteThread(caller, (await threads.getSession(caller, params.id)).threadId);
    reply.code(204);
  },
});

export const getHistory = endpoint({
  needs: ["threads:read", "own"],
  tag: "chat",
  summary: "Get the history of a session",
  params: sessionParams,
  answers: { 200: historySchema },
  handle: ({ params, ...call }) => historyOf(call, params.id),
});

export const findHistory = endpoint({
  needs: ["threads:read", "own"],
  tag: "chat",
  summary: "Get the history of a session, by ?session_id=",
  query: z.object({ session_id: z.string().max(255).optional() }),
  answers: { 200: historySchema },
  handle({ query: { session_id: id }, ...call }) {
    if (!id) throw new InvalidInput("Name the session: ?session_id=…", { param: "session_id" });
    return historyOf(call, id);
  },
});

async function historyOf(
  { caller, services: { threads } }: Pick<EndpointCall, "caller" | "services">,
  id: string,
): Promise<z.infer<typeof historySchema>> {
  const session = await threads.getSession(caller, id);
  const items = await threads.listBranch(caller, session.threadId, { most: maxMessages });
  return {
    session_id: session.id,
    title: session.title,
    updated_at: session.updatedAt.toISOString(),
    message_count: session.messageCount,
    messages: items.flatMap(sessionMessage),
  };
}

function view(session: SessionRecord, username: string): z.infer<typeof sessionSchema> {
  const { id, threadId, title, createdAt, updatedAt, messageCount, archivedAt } = session;
  return {
    id,
    session_id: id,
    thread_id: threadId,
    username,
    title,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    message_count: messageCount,
    archived: archivedAt !== null,
  };
}
