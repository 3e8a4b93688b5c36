import { z } from "zod";
import {
  type MadeShare,
  madeShareSchema,
  ownShareSchema,
  type OwnShareView,
  type SharedView,
  sharedSchema,
  shareSchema,
  type ShareView,
} from "../../../protocol/threads/shares.ts";
import { Conflict, NotFound } from "../../../protocol/base/errors.ts";
import { isErased, isNested } from "../../../run/log/fold.ts";
import type { Share } from "../../../store/shares.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

const maxShown = 5000;

export const shareThread = endpoint({
  needs: "threads:share",
  tag: "threads",
  summary: "Make a read-only link to a thread",
  description:
    "Whoever has the link reads the messages of the branch that is shown now, up to now; nothing of what tools were asked and " +
    "brought. `page` is the link for people, `path` the same for programs. Both hold the link's token and are in this answer alone.",
  params: idParams,
  body: z
    .strictObject({ days: z.number().positive().max(3650).optional().describe("Absent: until it is withdrawn") })
    .nullish(),
  answers: { 201: madeShareSchema },
  async handle({ params, body, caller, reply, services: { threads, shares } }): Promise<MadeShare> {
    const { days } = body ?? {};
    const { id: threadId, leaf } = await threads.getThread(caller, params.id);
    if (leaf === null) throw new Conflict("The thread is empty: there is nothing to share.", { code: "thread_empty" });
    const { share, token } = await shares.create({
      userId: caller.userId,
      threadId,
      leaf,
      ...(days !== undefined && { days }),
    });
    reply.code(201);
    return { share: view(share), path: `/api/shared/${token}`, page: `/shared/${token}` };
  },
});

export const listShares = endpoint({
  needs: "threads:share",
  tag: "threads",
  summary: "List the links to a thread",
  params: idParams,
  answers: { 200: listOf(shareSchema) },
  async handle({ params, caller, services: { threads, shares } }) {
    await threads.getThread(caller, params.id);
    return { data: (await shares.list(caller.userId, params.id)).map(view) };
  },
});

export const listOwnShares = endpoint({
  needs: "threads:share",
  tag: "threads",
  summary: "List your links to threads",
  description: "Those that still lead there, the newest first; at most 500.",
  answers: { 200: listOf(ownShareSchema) },
  async handle({ caller, services: { shares } }) {
    return {
      data: (await shares.listOwn(caller.userId)).map(({ title, ...share }): OwnShareView => ({
        ...view(share),
        title,
      })),
    };
  },
});

export const withdrawShare = endpoint({
  needs: "threads:share",
  tag: "threads",
  summary: "Withdraw a link to a thread",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.shares.remove(caller.userId, params.id);
    reply.code(204);
  },
});

export const readShared = endpoint({
  needs: "nothing",
  tag: "threads",
  summary: "Read a thread by a link to it",
  description: "Without a login.",
  open: () => true,
  params: z.object({ id: z.string().max(100) }),
  answers: { 200: sharedSchema },
  async handle({ params, reply, services: { threads, shares } }): Promise<SharedView> {
    const share = await shares.find(params.id);
    if (!share) throw new NotFound("Link not found. It may have been revoked.", { code: "share_not_found" });
    const { userId, threadId, leaf, title, createdAt } = share;
    const items = await threads.listBranch({ userId }, threadId, { leaf, most: maxShown });
    reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
    return {
      title,
      sharedAt: createdAt.toISOString(),
      messages: items.flatMap((item) => {
        if (item.kind !== "message" || isNested(item) || isErased(item) || item.body.role === "system") return [];
        const { role, content } = item.body;
        return content === "" ? [] : [{ role, author: item.author, content, createdAt: item.createdAt }];
      }),
    };
  },
});

function view({ id, threadId, leaf, createdAt, expiresAt }: Share): ShareView {
  return { id, threadId, leaf, createdAt: createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null };
}
