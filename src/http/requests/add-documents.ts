import { basename } from "node:path";
import { z } from "zod";
import type { DocumentResultsView } from "../../protocol/knowledge/documents.ts";
import { bytesOf } from "../../knowledge/documents/document-files.ts";
import type { DocumentResult, NewFile } from "../../knowledge/documents/documents.ts";
import { filesOfFolder } from "../../knowledge/documents/folder-files.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { noFile } from "../../sandbox/workspace/file-errors.ts";
import type { Services } from "../server/services.ts";
import { idSchema } from "../../protocol/base/shapes.ts";

/** From where documents are added, other than as the body of a request. */
export const addBody = z.union([
  z.strictObject({ name: z.string().min(1).max(500), text: z.string().min(1) }),
  z.strictObject({ urls: z.array(z.string().min(1).max(2000)).min(1).max(100) }),
  z.strictObject({ uploads: z.array(idSchema).min(1).max(100) }),
  z.strictObject({
    folder: z.string().min(1).max(1000).describe("Of the server's machine, within `rag.folders`"),
    removeGone: z.boolean().optional().describe("Also removes documents of this folder whose files are gone"),
  }),
  z.strictObject({
    threadId: idSchema,
    paths: z.array(z.string().min(1).max(1000)).min(1).max(100).describe("Files of its workspace"),
  }),
]);

export type AddedDocuments = {
  readonly added: readonly DocumentResult[];
  readonly problems: DocumentResultsView["problems"];
  readonly removed?: number;
};

type DocumentAddition = { readonly caller: Caller; readonly collectionId: string; readonly services: Services };

/** Adds documents. Reports those that can't be added, and continues with the rest. */
export async function addDocumentsFrom(
  adding: DocumentAddition,
  body: z.infer<typeof addBody>,
): Promise<AddedDocuments> {
  const { caller, collectionId, services } = adding;
  const { documents, collections } = services.knowledge;
  if ("text" in body) {
    const bytes = once(Buffer.from(body.text));
    return {
      added: [await documents.add(caller, collectionId, { name: body.name, source: { kind: "file" }, bytes })],
      problems: [],
    };
  }
  // Before anything is looked for: who may not add learns nothing of what there is.
  await collections.own(caller, collectionId);
  if ("urls" in body) return each(body.urls, (url) => documents.addUrl(caller, collectionId, url));
  if ("uploads" in body)
    return each(body.uploads, async (id) => {
      const upload = await services.uploads.get(caller, id);
      return documents.add(caller, collectionId, {
        name: upload.name,
        source: { kind: "upload", id },
        bytes: bytesOf(services.uploads.placeOf(upload)),
      });
    });
  if ("folder" in body) return addFolder(adding, body);
  const threadId = await services.threads.threadOfFiles(caller, body.threadId);
  const workspace = await services.workspaces.find(threadId);
  return each(body.paths, async (path) => {
    if (!workspace) throw noFile(path);
    const file = await workspace.openFile(path);
    const source = { kind: "session", threadId, path } as const;
    return documents.add(caller, collectionId, { name: path, source, bytes: file.read() });
  });
}

async function addFolder(
  { caller, collectionId, services }: DocumentAddition,
  { folder, removeGone = false }: { readonly folder: string; readonly removeGone?: boolean | undefined },
): Promise<AddedDocuments> {
  const { documents } = services.knowledge;
  const { root, files } = await filesOfFolder(folder, services.ragFolders ?? []);
  // Before anything is added: a file that was renamed would be a duplicate of what then goes.
  const removed = removeGone ? await removeOthers() : undefined;
  const added = await each(files, ({ path, bytes }) =>
    documents.add(caller, collectionId, {
      name: `${basename(root)}/${path}`,
      source: { kind: "folder", path: `${root}/${path}` },
      bytes: bytes(),
    } satisfies NewFile),
  );
  return { ...added, ...(removed !== undefined && { removed }) };

  async function removeOthers(): Promise<number> {
    const there = new Set(files.map(({ path }) => `${root}/${path}`));
    let count = 0;
    for (let after: string | undefined, page; ;) {
      page = await documents.list(caller, collectionId, { after, limit: 200 });
      for (const { id, source } of page)
        if (source.kind === "folder" && source.path.startsWith(`${root}/`) && !there.has(source.path)) {
          await documents.remove(caller, id);
          count++;
        }
      after = page.at(-1)?.name;
      if (after === undefined) return count;
    }
  }
}

async function each<One>(all: readonly One[], add: (one: One) => Promise<DocumentResult>): Promise<AddedDocuments> {
  const added: DocumentResult[] = [];
  const problems: { name: string; message: string }[] = [];
  for (const one of all)
    try {
      added.push(await add(one));
    } catch (error) {
      if (!(error instanceof ColloquyError)) throw error;
      problems.push({ name: typeof one === "string" ? one : (one as { path: string }).path, message: error.message });
    }
  return { added, problems };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
