import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { mediaTypeOf } from "../../protocol/threads/files.ts";
import type { OpenFile } from "../../sandbox/workspace/open-file.ts";

/** Harmless types that browsers may display; everything else is downloaded. */
const shown = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const whole = { description: "The file, of its type", content: { "*/*": { schema: z.string() } } };

/** Answers of a file's route. */
export const fileAnswers = {
  200: whole,
  206: { ...whole, description: "The part requested with `Range`" },
  304: z.null().describe("It is still what `If-None-Match` names"),
};

/** Nobody knows who wrote the file: it may not run as a page of this server, whatever it says it is. */
const policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/**
 * Answers with a file or the part of it that is asked for, or with 304 if the client has it. `isLink`: pages of other sites
 * may show it too, since whoever has the link may read it.
 */
export async function sendFile(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  file: OpenFile,
  { path, isLink }: { readonly path: string; readonly isLink: boolean },
): Promise<FastifyReply> {
  const tag = `"${file.version}"`;
  const type = mediaTypeOf(path) ?? "application/octet-stream";
  const name = path.slice(path.lastIndexOf("/") + 1);
  const { headers } = request;
  const isKnown = listed(headers["if-none-match"], tag);
  const range = (headers["if-range"] ?? tag) === tag ? byteRangeOf(headers.range, file.bytes) : undefined;
  if (range === "outside" && !isKnown) {
    await file.close();
    reply.header("content-range", `bytes */${file.bytes}`);
    throw new InvalidInput(`The file has ${file.bytes} bytes, and none in this range.`, {
      code: "range_outside",
      status: 416,
    });
  }
  reply.headers({
    "content-type": type.startsWith("text/") ? `${type}; charset=utf-8` : type,
    "content-disposition": `${shown.has(type) ? "inline" : "attachment"}; filename*=UTF-8''${extended(name)}`,
    "content-security-policy": policy,
    "cross-origin-resource-policy": isLink ? "cross-origin" : "same-site",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
    "last-modified": file.modified.toUTCString(),
    etag: tag,
  });
  if (isKnown || range === "outside") {
    await file.close();
    return reply.code(304).send();
  }
  if (range) reply.code(206).header("content-range", `bytes ${range.start}-${range.end - 1}/${file.bytes}`);
  reply.header("content-length", range ? range.end - range.start : file.bytes);
  return reply.send(Readable.from(file.read(range)));
}

function listed(header: string | undefined, tag: string): boolean {
  return header?.split(",").some((one) => one.trim().replace(/^W\//, "") === tag) ?? false;
}

/** As RFC 8187 wants it. */
function extended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

/** A part of a file; `end` is exclusive. */
type ByteRange = { readonly start: number; readonly end: number };

/**
 * What the header `Range` asks for. Undefined: the whole, also for what is no single range of bytes.
 * `outside`: there is nothing of that.
 */
function byteRangeOf(header: string | undefined, size: number): ByteRange | "outside" | undefined {
  // Whoever wants at most so much of a file must not be refused because it is empty.
  if (size === 0) return undefined;
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (start >= size || (first === "" && last === "0")) return "outside";
  return start < end ? { start, end } : undefined;
}
