import type { z } from "zod";
import type { AttachedFile, MessageContent } from "../../protocol/threads/items.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { authorize } from "../server/entry.ts";
import type { messageInputSchema } from "../shapes/schemas.ts";

type MessageWithFiles = {
  readonly id?: string;
  readonly content: MessageContent;
  readonly files?: readonly AttachedFile[];
};

/** A message of the native API with its files as they are stored. Throws NotFound for one that is not the caller's. */
export async function withFiles(
  { caller, services }: Pick<EndpointCall, "caller" | "services">,
  { id, content, files = [] }: z.output<typeof messageInputSchema>,
): Promise<MessageWithFiles> {
  return {
    ...(id !== undefined && { id }),
    content,
    ...(files.length > 0 && { files: await findAttachedFiles({ caller, services }, files) }),
  };
}

/** The files of these ids, for an agent or model to read: of a key, it must be let read them. Throws NotFound, and AccessDenied. */
export function findAttachedFiles(
  { caller, services }: Pick<EndpointCall, "caller" | "services">,
  ids: readonly string[],
): Promise<readonly AttachedFile[]> {
  if (caller.key !== undefined) authorize(caller, "files:read");
  return services.uploads.attach(caller, ids);
}
