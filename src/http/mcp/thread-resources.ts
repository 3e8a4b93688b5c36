import { type Caller, hasScope } from "../../protocol/base/callers.ts";
import { InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { type MessageContent, type Item, textOf } from "../../protocol/threads/items.ts";
import type { ThreadRecord } from "../../protocol/threads/runs.ts";
import { publicItem } from "../../protocol/threads/public-views.ts";
import type { Services } from "../server/services.ts";
import type { McpResources } from "./server-features.ts";

const threadsPerPage = 50;
/** The newest ones of a thread. */
const maxItems = 500;
const resultCharacters = 2000;
const pattern = /^colloquy:\/\/threads\/([0-9a-f-]{36})(\/items)?$/;

/** The caller's threads: each as a text to read, and its items as JSON. */
export function threadResources(services: Services, caller: Caller): McpResources {
  return {
    async list(cursor) {
      if (cursor !== undefined && !isId(cursor)) throw new InvalidInput("This cursor is not valid.");
      if (!hasScope(caller, "threads:list")) return { resources: [] };
      const page = { limit: threadsPerPage, ...(cursor !== undefined && { before: cursor }) };
      const threads = await services.threads.listThreads(caller, page);
      const last = threads.at(-1);
      return {
        resources: threads.map(resourceOf),
        ...(threads.length === threadsPerPage && last && { nextCursor: last.id }),
      };
    },
    templates: [
      {
        name: "thread",
        title: "A thread as text",
        uriTemplate: "colloquy://threads/{id}",
        description: "One of your threads, as a conversation to read",
        mimeType: "text/markdown",
      },
      {
        name: "thread-items",
        title: "A thread's items",
        uriTemplate: "colloquy://threads/{id}/items",
        description: "One of your threads, as the items of Colloquy's API",
        mimeType: "application/json",
      },
    ],
    async read(uri) {
      const [, id, items] = pattern.exec(uri) ?? [];
      if (id === undefined) return undefined;
      const text = items ? await itemsOf(services, caller, id) : await transcriptOf(services, caller, id);
      if (text === undefined) return undefined;
      return { contents: [{ uri, mimeType: items ? "application/json" : "text/markdown", text }] };
    },
    complete: (value) => findThreads(services, caller, value),
  };
}

export function threadUri(id: string): string {
  return `colloquy://threads/${id}`;
}

/** Ids of the caller's newest threads that begin like this, or whose title holds it. */
export async function findThreads(
  services: Pick<Services, "threads">,
  caller: Caller,
  value: string,
): Promise<string[]> {
  if (!hasScope(caller, "threads:list")) return [];
  const threads = await services.threads.listThreads(caller, { limit: 100 });
  const wanted = value.toLowerCase();
  return threads
    .filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
    .map(({ id }) => id);
}

/** Undefined: there is no such thread, or it is not the caller's. */
export async function transcriptOf(
  services: Pick<Services, "threads">,
  caller: Caller,
  id: string,
): Promise<string | undefined> {
  const found = await read(services, caller, id);
  if (!found) return undefined;
  const { thread, items, earlier } = found;
  const parts = items.map(partOf).filter((part) => part !== "");
  return [`# ${thread.title || thread.id}`, ...(earlier ? ["(Earlier items are left out.)"] : []), ...parts].join(
    "\n\n",
  );
}

async function itemsOf(services: Pick<Services, "threads">, caller: Caller, id: string): Promise<string | undefined> {
  const found = await read(services, caller, id);
  return found && JSON.stringify({ thread: id, earlier: found.earlier, items: found.items.map(publicItem) });
}

type ThreadExcerpt = { readonly thread: ThreadRecord; readonly items: readonly Item[]; readonly earlier: boolean };

async function read(
  { threads }: Pick<Services, "threads">,
  caller: Caller,
  id: string,
): Promise<ThreadExcerpt | undefined> {
  try {
    const thread = await threads.getThread(caller, id);
    const items = await threads.listItems(caller, id, { limit: maxItems, order: "desc" });
    return { thread, items: items.toReversed(), earlier: (items.at(-1)?.seq ?? 1) > 1 };
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

function resourceOf({ id, title, agent, updatedAt }: ThreadRecord) {
  return {
    uri: threadUri(id),
    name: title || id,
    mimeType: "text/markdown",
    ...(agent !== null && { description: `A thread with ${agent}` }),
    annotations: { lastModified: updatedAt },
  };
}

function partOf({ kind, author, body }: Item): string {
  switch (kind) {
    case "message":
      return body.role === "system" ? "" : `**${author ?? body.role}**: ${shown(body.content)}`;
    case "call":
      return `\`${body.name}\` ${body.arguments}`;
    case "result":
      return `${body.isError ? "Failed" : "Result"}: ${shorten(body.content)}`;
    case "question":
      return `*Asked*: ${body.text}`;
    case "decision":
      return `*Decided*: ${body.decision}${body.text ? ` (${body.text})` : ""}`;
    case "notice":
      return `*${body.text}*`;
    default:
      return "";
  }
}

function shown(content: MessageContent): string {
  const pictures = typeof content === "string" ? 0 : content.filter(({ type }) => type === "image").length;
  return `${textOf(content)}${" [image]".repeat(pictures)}`;
}

function shorten(text: string): string {
  return text.length > resultCharacters ? `${text.slice(0, resultCharacters)} …` : text;
}
