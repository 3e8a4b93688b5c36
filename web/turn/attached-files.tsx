import { Paperclip } from "lucide-react";
import type { AttachedFile } from "../../src/protocol/threads/items.ts";
import { size } from "../parts/format.ts";
import { client } from "../page/server.ts";
import { UploadedPicture } from "./uploaded-picture.tsx";

/** What a person has sent along with their words. */
export function AttachedFiles({ files }: { readonly files: readonly AttachedFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul className="mt-1 flex flex-wrap gap-2">
      {files.map(({ id, name, bytes, mediaType }) => (
        <li key={id}>
          {/^image\/(png|jpeg|gif|webp)$/.test(mediaType) ? (
            <UploadedPicture id={id} name={name} />
          ) : (
            <a className="tile pe-2 text-sm" href={client.uploads.addressOf(id)} download={name}>
              <Paperclip size={16} aria-hidden className="flex-none text-muted" />
              <span dir="auto" className="max-w-60 truncate">
                {name}
              </span>
              <span className="text-xs whitespace-nowrap text-muted">{size(bytes)}</span>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
