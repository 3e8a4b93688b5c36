import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

/** What a new conversation in a folder begins with. Stored as it is, so that more may come. */
export const folderSettingsSchema = z.strictObject({
  agent: z.string().min(1).max(200).optional().describe("Which agent answers where none is named"),
  collections: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe("Names or ids of collections that belong to it. Kept for clients: runs do not read it by themselves"),
});
export type FolderSettings = Shape<typeof folderSettingsSchema>;

/** A person's own folder of conversations and rooms. */
export const folderSchema = z.object({
  id: idSchema,
  name: z.string(),
  position: z.int().describe("Its place among your folders, from 0 on"),
  settings: folderSettingsSchema,
  createdAt: timeSchema,
});
export type FolderView = Shape<typeof folderSchema>;

/** What of one's own has changed; told without its content. */
export const listKinds = ["threads", "folders", "preferences"] as const;
export type ListKind = (typeof listKinds)[number];
export const listChangeSchema = z.object({ type: z.literal("changed"), of: z.enum(listKinds) });
export type ListChange = Shape<typeof listChangeSchema>;
