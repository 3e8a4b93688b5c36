import { z } from "zod";
import { itemSchema } from "../../../protocol/threads/item-schema.ts";
import { threadSchema } from "../../../protocol/threads/threads.ts";
import { threadMarkdown } from "../../shapes/thread-text.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { publicItem, publicThread } from "../../../protocol/threads/public-views.ts";
import { idParams } from "../../shapes/schemas.ts";

const maxExported = 10_000;

export const listBranch = endpoint({
  needs: "threads:read",
  tag: "threads",
  summary: "List the items of the branch that a thread shows",
  description:
    "Oldest first: what was edited or asked anew is not among them (all items: `/items`). Of a long branch its newest " +
    "`limit` items, at most about 16 MB; `whole` says whether these are all.",
  params: idParams,
  query: z.object({
    leaf: idSchema.optional().describe("Another branch, by its last item"),
    limit: z.coerce.number().int().min(1).max(5000).default(1000),
  }),
  answers: { 200: z.object({ data: z.array(itemSchema), whole: z.boolean() }) },
  async handle({ params, query: { leaf, limit }, caller, services }) {
    const items = await services.threads.listBranch(caller, params.id, { most: limit, ...(leaf && { leaf }) });
    return { data: items.map(publicItem), whole: isWhole(items) };
  },
});

export const forkThread = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Fork a thread",
  description: "A copy of the branch up to `item`, or of the shown one: messages, and calls with their results.",
  params: idParams,
  body: z.strictObject({ item: idSchema.optional(), title: z.string().max(500).optional() }).nullish(),
  answers: { 201: threadSchema },
  async handle({ params, body, caller, reply, services }) {
    const { item, title } = body ?? {};
    const at = { ...(item && { itemId: item }), ...(title !== undefined && { title }) };
    reply.code(201);
    return publicThread(await services.threads.forkThread(caller, params.id, at));
  },
});

export const exportThread = endpoint({
  needs: "threads:read",
  tag: "threads",
  summary: "Save a thread as Markdown or JSON",
  description: `The shown branch, of a long one its newest ${maxExported} items; the header \`x-colloquy-whole\` says whether these are all.`,
  params: idParams,
  query: z.object({ format: z.enum(["markdown", "json"]).default("markdown") }),
  answers: {
    200: {
      description: "A file",
      content: {
        "text/markdown": { schema: z.string() },
        "application/json": { schema: z.object({ thread: threadSchema, items: z.array(itemSchema) }) },
      },
    },
  },
  async handle({ params, query: { format }, caller, reply, services }) {
    const thread = await services.threads.getThread(caller, params.id);
    const items = await services.threads.listBranch(caller, params.id, { most: maxExported });
    const file = `${fileName(thread.title)}.${format === "json" ? "json" : "md"}`;
    reply
      .header("x-colloquy-whole", String(isWhole(items)))
      .header("content-disposition", `attachment; filename="${file}"`)
      .header("content-type", format === "json" ? "application/json; charset=utf-8" : "text/markdown; charset=utf-8");
    return format === "json"
      ? JSON.stringify({ thread: publicThread(thread), items: items.map(publicItem) }, null, 2)
      : threadMarkdown(thread.title, items);
  },
});

function isWhole(items: readonly { readonly parentId: string | null }[]): boolean {
  return (items[0]?.parentId ?? null) === null;
}

/** Makes a file name that every file system accepts. */
function fileName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replaceAll(/[^\w -]+/g, "")
    .trim()
    .replaceAll(/\s+/g, "-")
    .slice(0, 60);
  return plain === "" ? "conversation" : plain;
}
