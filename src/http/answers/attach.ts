import { InvalidInput } from "../../protocol/base/errors.ts";
import type { AttachedFile } from "../../protocol/threads/items.ts";
import type { ModelMessage } from "../../protocol/agents/models.ts";
import { contentWithFiles, withImages } from "../../run/log/attached-files.ts";
import { findAttachedFiles } from "../requests/attach.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import type { AnswerMessage, AnswerRequest } from "./answer-request.ts";

/** In one request, its history included. */
const maxFiles = 100;

/** The request with the files that its messages name. Throws NotFound for one that is not the caller's. */
export async function resolveFiles<Asked extends Pick<AnswerRequest, "messages">>(
  { caller, services }: EndpointCall,
  asked: Asked,
): Promise<Asked> {
  const ids = new Set(asked.messages.flatMap((message) => (hasIds(message) ? message.fileIds : [])));
  if (ids.size === 0) return asked;
  if (ids.size > maxFiles)
    throw new InvalidInput(`The messages name more than ${maxFiles} files.`, { param: "messages" });
  const files = new Map((await findAttachedFiles({ services, caller }, [...ids])).map((file) => [file.id, file]));
  const messages = asked.messages.map((message): AnswerMessage => {
    if (!hasIds(message)) return message;
    const { fileIds, ...rest } = message;
    return { ...rest, files: [...new Set(fileIds)].flatMap((id) => files.get(id.toLowerCase()) ?? []) };
  });
  return { ...asked, messages };
}

/** For a model that is asked straight: what is told of the files, and the images themselves. */
export async function modelMessages(
  { caller, services }: EndpointCall,
  messages: AnswerRequest["messages"],
): Promise<readonly ModelMessage[]> {
  const files = messages.flatMap((message) => (message.role === "user" ? (message.files ?? []) : []));
  if (files.length === 0) return messages;
  const told = messages.map((message): ModelMessage => {
    if (message.role !== "user" || !message.files) return message;
    const { files: own, content, ...rest } = message;
    return {
      ...rest,
      content: contentWithFiles({ content: typeof content === "string" ? content : [...content], files: own }),
    };
  });
  return withImages(told, (id) => services.uploads.imageUrl(id, caller.userId));
}

type MessageWithFileIds = Extract<AnswerMessage, { role: "user" }> & { readonly fileIds: readonly string[] };

function hasIds(message: AnswerMessage): message is MessageWithFileIds {
  return message.role === "user" && message.fileIds !== undefined;
}

/** Returns the files of these messages, each once. */
export function filesOf(messages: readonly AnswerMessage[]): readonly AttachedFile[] {
  const files = messages.flatMap((message) => (message.role === "user" ? (message.files ?? []) : []));
  return [...new Map(files.map((file) => [file.id, file])).values()];
}
