import { createHmac, timingSafeEqual } from "node:crypto";

/** Where a file of a thread is on this server. */
function pathOfFile(threadId: string, path: string): string {
  return `/api/threads/${threadId}/files/${path.split("/").map(encoded).join("/")}`;
}

export type FileLinks = {
  /** A path with all that is needed to read the file without a login, as an `<img>` in a chat page does. */
  linkTo(threadId: string, path: string): string;
  allows(threadId: string, path: string, link: LinkQuery): boolean;
};

/** `until` in seconds since 1970. */
export type LinkQuery = { readonly until?: number | undefined; readonly signature?: string | undefined };

const daySeconds = 24 * 60 * 60;
/** A link is good for 30 to 31 days; on one day all links to a file are the same, so that browsers know it again. */
const days = 31;

/** `isOpen`: whoever asks is the owner, so nothing needs to be signed. */
export function createFileLinks({ secret, isOpen }: { readonly secret: string; readonly isOpen: boolean }): FileLinks {
  const sign = (threadId: string, path: string, until: number) =>
    createHmac("sha256", secret)
      .update(JSON.stringify(["colloquy: file", threadId, path, until]))
      .digest("base64url");
  return {
    linkTo(threadId, path) {
      if (isOpen) return pathOfFile(threadId, path);
      const until = (Math.floor(Date.now() / 1000 / daySeconds) + days) * daySeconds;
      return `${pathOfFile(threadId, path)}?until=${until}&signature=${sign(threadId, path, until)}`;
    },
    allows(threadId, path, { until = 0, signature = "" }) {
      const [given, expected] = [Buffer.from(signature), Buffer.from(sign(threadId, path, until))];
      return given.length === expected.length && timingSafeEqual(given, expected) && until > Date.now() / 1000;
    },
  };
}

/** Also what would end a link in Markdown. */
function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
}
