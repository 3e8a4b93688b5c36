import { createHash, randomInt } from "node:crypto";
import { z } from "zod";
import { Conflict, AccessDenied, InvalidInput, NotFound } from "../../../protocol/base/errors.ts";
import { isId } from "../../../protocol/base/ids.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { idempotencyOf, parentRunOf } from "../../requests/run-headers.ts";
import { streamConversation } from "./conversation-stream.ts";
import { messageSchema, messagesBackwards } from "./conversation-items.ts";
import { defaultAgent, decode } from "./requests.ts";
import { threadIdFrom } from "./ids.ts";
import { pageOf } from "./pages.ts";

/** What fits a 32-bit column of whoever keeps these numbers. */
const largestNumber = 2 ** 31 - 1;
const largestAsked = Number.MAX_SAFE_INTEGER;

const userSchema = z
  .union([z.string().min(1).max(200), z.int()])
  .transform(String)
  .describe("With accounts your own id or name; without, a name that keeps conversations apart");
const bodySchema = z.object({
  conversation_id: z.int().min(1).max(largestAsked).nullish().describe("Absent: a new conversation"),
  user_id: userSchema.nullish(),
  message: z.string().refine((text) => text.trim() !== "", "must not be empty"),
});

/** `{conversation_id, user_id, message}`: a message to the conversation with that number, which is the user's own. */
export async function askInConversation(call: EndpointCall, body: object): Promise<undefined> {
  const { conversation_id: asked, user_id: user, message } = decode(bodySchema, body);
  const { services, caller, request, reply, streams } = call;
  streams.admit(reply, caller.userId);
  const label = labelOf(call, user ?? undefined);
  const idempotency = idempotencyOf(request);
  const number = asked ?? (await newNumber(call, label, idempotency?.key));
  const started = await services.runs.start(caller, {
    agent: defaultAgent(services.agents),
    sessionKey: sessionKey(number, label),
    message: { content: message },
    showQuestions: true,
    idempotency,
    ...parentRunOf(request),
  });
  reply.header("x-colloquy-conversation", number);
  return streamConversation(call, started, number);
}

export const conversationItems = endpoint({
  needs: ["threads:read", "own"],
  tag: "chat",
  summary: "List the messages of a conversation",
  description:
    "Of `/chatkit`, by its number or its thread's id: `{id, role, content}`, each call with its result, in order.",
  params: z.object({ id: z.string().max(200) }),
  query: z.object({
    user_id: userSchema.optional(),
    after: z.string().max(200).optional().describe("The last id of the page before"),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  }),
  answers: { 200: z.object({ data: z.array(messageSchema), has_more: z.boolean() }) },
  async handle(call) {
    const { services, caller, params, query } = call;
    const thread = await services.threads.getThread(caller, await threadOf(call, params.id, query.user_id));
    const { data, has_more } = await pageOf(messagesBackwards(call, thread), { ...query, order: "asc" });
    return { data, has_more };
  },
});

/** With accounts nobody speaks for another; without, the machine's owner asks, and the name only keeps conversations apart. */
function labelOf({ services, caller }: EndpointCall, user: string | undefined): string {
  if (services.access.mode === "local") return user ?? "";
  if (user === undefined || user === caller.userId || user === caller.name) return "";
  throw new AccessDenied(403, "user_id: must be your own id or name.", { code: "not_your_user_id" });
}

const keyPrefix = "chatkit:";

/** Unique for each user: one's number 1 is not another's. */
function sessionKey(number: number, label: string): string {
  return `${keyPrefix}${number}:${label}`;
}

/** The same one for the same Idempotency-Key, so that a request that is sent again finds its conversation. */
async function newNumber({ services, caller }: EndpointCall, label: string, key: string | undefined): Promise<number> {
  if (key !== undefined) {
    const hash = createHash("sha256").update(`${caller.userId} ${label} ${key}`).digest();
    return 1 + (hash.readUInt32BE() % largestNumber);
  }
  for (;;) {
    const number = randomInt(1, largestNumber);
    if ((await services.threads.findThread(caller, sessionKey(number, label))) === undefined) return number;
  }
}

/** Throws NotFound for what is not the caller's or not of that user, and Conflict if it takes a user_id to know. */
async function threadOf(call: EndpointCall, id: string, user: string | undefined): Promise<string> {
  const { services, caller } = call;
  const label = labelOf(call, user);
  const unknown = new NotFound(`Conversation ${id} not found.`, { code: "conversation_not_found" });
  if (id.startsWith("thr_") || isId(id)) {
    const threadId = threadIdFrom(id);
    const [session] = label === "" ? [] : await services.threads.findSessions(caller, { prefix: keyPrefix, threadId });
    if (label !== "" && session?.key.split(":").slice(2).join(":") !== label) throw unknown;
    return threadId;
  }
  if (!/^[1-9]\d{0,15}$/.test(id))
    throw new InvalidInput("The conversation's id must be a whole number or a thread's id.", { param: "id" });
  const named = await services.threads.findThread(caller, sessionKey(+id, label));
  if (named !== undefined) return named;
  const found = user === undefined ? await services.threads.findSessions(caller, { prefix: sessionKey(+id, "") }) : [];
  if (found.length > 1)
    throw new Conflict(`Several users have a conversation ${id}; say which by ?user_id=.`, { code: "which_user" });
  if (!found[0]) throw unknown;
  return found[0].threadId;
}
