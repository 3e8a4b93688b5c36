import { Readable } from "node:stream";
import type { AnswerMessage } from "../../answers/answer-request.ts";
import { resolveFiles } from "../../answers/attach.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import type { SentFile } from "./decode-input.ts";

/** What is put in place of the files of a request until they are uploads. */
export function createSentFiles() {
  const files: SentFile[] = [];
  return {
    keep: (file: SentFile) => `sent:${files.push(file) - 1}`,
    /** Messages with their files looked up; those that came in the request are uploads like any other. */
    async resolve<Asked extends { readonly messages: readonly AnswerMessage[] }>(
      call: EndpointCall,
      asked: Asked,
    ): Promise<Asked> {
      const ids: string[] = [];
      for (const { name, bytes } of files)
        ids.push((await call.services.uploads.receive(call.caller, { name, bytes: Readable.from([bytes]) })).id);
      const idOf = (id: string) => (id.startsWith("sent:") ? ids[Number(id.slice(5))]! : id);
      const messages = asked.messages.map((message) =>
        message.role === "user" && message.fileIds ? { ...message, fileIds: message.fileIds.map(idOf) } : message,
      );
      return resolveFiles(call, files.length === 0 ? asked : { ...asked, messages });
    },
  };
}
