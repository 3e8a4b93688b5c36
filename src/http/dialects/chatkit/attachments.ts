import { baseOf } from "../../server/origins.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { itemIdFrom, shownItemId } from "./ids.ts";
import type { RequestOf } from "./requests.ts";

/** A place for a file whose bytes the page sends next, to the address that it is told. */
export async function createAttachment(
  { services, caller, request }: EndpointCall,
  { params: { name, size, mime_type: type } }: RequestOf<"attachments.create">,
): Promise<object> {
  const upload = await services.uploads.begin(caller, { name, bytes: size });
  const url = `${baseOf(request)}/api/uploads/${upload.id}/content`;
  return {
    id: shownItemId("atc", upload.id),
    type: type.startsWith("image/") ? "image" : "file",
    name: upload.name,
    mime_type: type,
    upload_descriptor: { url, method: "PUT", headers: {} },
    upload_url: url,
  };
}

/** The upload behind an attachment's id; for what can't be one, an id that nothing has. */
export function uploadIdFrom(shown: string): string {
  return itemIdFrom(shown) ?? shown;
}
