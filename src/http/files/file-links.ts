import { createHmac, timingSafeEqual } from "node:crypto";

/** Returns the path of a file of a thread on this server. */
function pathOfFile(threadId: string, path: string): string {
  return `/api/threads/${threadId}/files/${path.split("/").map(encoded).join("/")}`;
}

export type FileLinks = {
  /** Returns a path that reads the file without a login, as an `<img>` in a chat page needs. */
  linkTo(threadId: string, path: string): string;
  allows(threadId: string, path: string, link: LinkQuery): boolean;
};

/** `until` in seconds since 1970. */
export type LinkQuery = { readonly until?: number | undefined; readonly signature?: string | undefined };

const daySeconds = 24 * 60 * 60;
/** Links are valid for 30 to 31 days. All links to a file from the same day are equal, so that browsers can cache it. */
const days = 31;

/** `isOpen`: every caller is the owner, so links need no signature. */
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

/** Encodes a path, including characters that would end a Markdown link. */
function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
}
