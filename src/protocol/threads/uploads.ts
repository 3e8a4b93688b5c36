import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const uploadSchema = z.object({
  id: idSchema,
  name: z.string(),
  bytes: z.int(),
  state: z.enum(["receiving", "reading", "ready"]),
  offset: z.int().optional().describe("While it is received: so many bytes are here"),
  mediaType: z.string().nullable().describe("Found out from its content"),
  kind: z.string().nullable(),
  metadata: z
    .looseObject({})
    .nullable()
    .describe("Description of the content: columns, pages, headings, definitions, …"),
  problem: z.string().nullable().describe("Why its content can't be read"),
  createdAt: timeSchema,
});
export type UploadView = Shape<typeof uploadSchema>;
