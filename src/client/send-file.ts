import { Unavailable } from "../protocol/base/errors.ts";
import { addressAt, errorOf, type ServerAccess } from "./request.ts";

export type SendOptions = {
  /** How much of it was sent, from 0 to 1. */
  readonly onProgress?: (part: number) => void;
  readonly signal?: AbortSignal;
};

/** What is used of it: browsers alone have one. */
type BrowserRequest = {
  readonly upload: { onprogress: ((event: { readonly loaded: number; readonly total: number }) => void) | null };
  readonly status: number;
  readonly responseText: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
};

/** PUTs a file. Not by `fetch`, which does not tell how much was sent. */
export async function sendFile(
  server: ServerAccess,
  path: string,
  content: Blob,
  { onProgress, signal }: SendOptions = {},
): Promise<Response> {
  signal?.throwIfAborted();
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => BrowserRequest };
  const request = new XMLHttpRequest();
  request.open("PUT", addressAt(server, path));
  request.setRequestHeader("content-type", "application/octet-stream");
  if (server.token !== undefined) request.setRequestHeader("authorization", `Bearer ${server.token}`);
  for (const [name, value] of Object.entries(server.headers ?? {})) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 1);
  const sent = Promise.withResolvers<void>();
  request.onload = () => sent.resolve();
  request.onerror = () =>
    sent.reject(new Unavailable("The file could not be sent: the server was not reached.", { code: "unreachable" }));
  request.onabort = () => sent.reject(signal?.reason ?? new Error("Sending was stopped."));
  const stop = () => request.abort();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    request.send(content);
    await sent.promise;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  const response = new Response(request.responseText, { status: request.status });
  if (response.ok) return response;
  throw await errorOf(response);
}
