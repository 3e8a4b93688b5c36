import { z } from "zod";
import { folderSchema, folderSettingsSchema, type FolderView } from "../../../protocol/threads/folders.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import type { FolderRecord } from "../../../store/folders.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

const name = z.string().trim().min(1).max(100);

function publicFolders(folders: readonly FolderRecord[]): FolderView[] {
  return folders.map(({ createdAt, ...folder }, position) => ({
    ...{ ...folder, position },
    createdAt: createdAt.toISOString(),
  }));
}

export const listFolders = endpoint({
  needs: "threads:list",
  tag: "threads",
  summary: "List your folders, in your order",
  answers: { 200: listOf(folderSchema) },
  async handle({ caller, services }) {
    return { data: publicFolders(await services.folders.list(caller.userId)) };
  },
});

export const createFolder = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Make a folder for conversations and rooms",
  description:
    "Folders are your own: of a room that many people are in, each has it where they like. The same `id` sent again answers the first.",
  body: z.strictObject({ id: idSchema.optional(), name, settings: folderSettingsSchema.optional() }),
  answers: { 201: folderSchema },
  async handle({ body, caller, reply, services }) {
    const { id, folders } = await services.folders.create(caller.userId, body);
    reply.code(201);
    return publicFolders(folders).find((folder) => folder.id === id);
  },
});

export const changeFolder = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Rename a folder, move it among your folders, or change what conversations in it begin with",
  description: "All of your folders are answered, since the places of others change with one's.",
  params: idParams,
  body: z
    .strictObject({
      name: name.optional(),
      position: z.int().min(0).optional().describe("From 0 on; behind the last is the last"),
      settings: folderSettingsSchema.optional().describe("Whole: what is not in it is gone"),
    })
    .refine((changes) => Object.keys(changes).length > 0, "must change something"),
  answers: { 200: listOf(folderSchema) },
  async handle({ params, body, caller, services }) {
    return { data: publicFolders(await services.folders.change(caller.userId, params.id, body)) };
  },
});

export const deleteFolder = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Delete a folder; the conversations in it stay",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, caller, reply, services }) {
    await services.folders.remove(caller.userId, params.id);
    reply.code(204);
  },
});
