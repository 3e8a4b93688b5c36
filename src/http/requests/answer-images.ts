import { type FileChange, filesOf, imagesIn, mergedFiles } from "../../protocol/threads/files.ts";
import { baseOf } from "../server/origins.ts";
import type { EndpointCall } from "../server/endpoint.ts";

/** More than anybody looks at below one answer. */
const maxImages = 20;

/** The images that the calls of a run made: they are shown where its answer is shown. */
export type AnswerImages = {
  /** The `data` of a call's result. */
  see(data: unknown): void;
  list(): readonly { readonly path: string; readonly mediaType: string; readonly url: string }[];
  /** For dialects that know nothing but text: as Markdown, or nothing. */
  markdown(): string;
};

/** `threadId`: of the run. Links need no login, as an `<img>` has none. */
export function createAnswerImages(
  { request, services }: Pick<EndpointCall, "request" | "services">,
  threadId: string,
): AnswerImages {
  let files: readonly FileChange[] = [];
  const list = () =>
    imagesIn(files)
      .slice(-maxImages)
      .map(({ path, mediaType = "" }) => ({
        path,
        mediaType,
        url: baseOf(request) + services.fileLinks.linkTo(threadId, path),
      }));
  return {
    see: (data) => {
      files = mergedFiles([...files, ...filesOf(data)]);
    },
    list,
    markdown: () =>
      list()
        .map(({ path, url }) => `![${path.replaceAll(/[\\[\]\n\r]/g, " ")}](${url})`)
        .join("\n\n"),
  };
}
