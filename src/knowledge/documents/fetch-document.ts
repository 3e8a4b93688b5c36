import { guardedRequest } from "../../egress/guarded-request.ts";
import { InvalidInput, Unavailable } from "../../protocol/base/errors.ts";

const timeoutMs = 60_000;
const endings: Readonly<Record<string, string>> = {
  "text/html": ".html",
  "application/xhtml+xml": ".html",
  "text/markdown": ".md",
  "text/csv": ".csv",
  "application/json": ".json",
};

/** Fetches the content of an address, and derives a file name. Throws InvalidInput if it won't be available later either, else Unavailable. */
export async function fetchDocument(
  url: string,
  {
    allow,
    maxBytes,
    signal,
  }: { readonly allow: readonly string[]; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{ readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }> {
  const headers = { accept: "text/html,application/pdf,text/*;q=0.9,*/*;q=0.5", "user-agent": "Colloquy" };
  const {
    status,
    headers: answered,
    body,
    url: from,
  } = await guardedRequest(url, { allow, maxBytes, timeoutMs, headers, signal });
  const { host } = new URL(from);
  if (status >= 500 || status === 429)
    throw new Unavailable(`${host} answers with ${status}.`, { code: "fetch_failed" });
  if (status !== 200) throw new InvalidInput(`${host} answers with ${status}.`, { code: "fetch_failed" });
  if (body.length === 0) throw new InvalidInput(`${host} returned an empty answer.`, { code: "fetch_failed" });
  return {
    name: nameOf(from, answered["content-type"] ?? ""),
    bytes: (async function* () {
      yield body;
    })(),
  };
}

/** Ends as what the server says it is, where its own ending does not tell. */
function nameOf(url: string, contentType: string): string {
  const last = decoded(new URL(url).pathname.split("/").at(-1)!) || "page";
  const ending = endings[contentType.split(";")[0]!.trim().toLowerCase()];
  return ending === undefined || last.toLowerCase().endsWith(ending) ? last : last + ending;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
