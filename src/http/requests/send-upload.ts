import { open } from "node:fs/promises";
import { NotFound } from "../../protocol/base/errors.ts";
import { openFileOf } from "../../sandbox/workspace/open-file.ts";
import type { Upload } from "../../store/knowledge/uploads.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { sendFile } from "../files/send-file.ts";

/** Throws NotFound if it is not here yet, or not any more. */
export async function sendUpload(
  call: Pick<EndpointCall, "request" | "reply">,
  upload: Upload,
  uploads: EndpointCall["services"]["uploads"],
): Promise<unknown> {
  const handle = await open(uploads.placeOf(upload)).catch((cause: unknown) => {
    throw new NotFound(`The content of ${upload.name} is not here.`, { code: "file_not_found", cause });
  });
  const file = openFileOf({ handle, stats: await handle.stat() }, upload.name);
  return sendFile(call, file, { path: upload.name, isLink: false });
}
