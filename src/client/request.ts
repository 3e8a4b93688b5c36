import { ColloquyError, type ErrorDetail, messageOf, Unavailable } from "../protocol/base/errors.ts";

export type ServerAccess = {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** API key; needed with accounts. */
  readonly token?: string | undefined;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type ClientRequest = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Body to send unchanged. */
  readonly bytes?: string | Uint8Array<ArrayBuffer>;
  /** Sent as `multipart/form-data`. */
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** It is sent to its end though the page that asks is left. */
  readonly keepalive?: boolean;
};

/** Sends one request. Throws Unavailable if the server can't be reached, and the server's own error if it refuses. */
export async function ask(server: ServerAccess, path: string, asking: ClientRequest = {}): Promise<Response> {
  const { method = "GET", body, bytes, form, headers, signal, keepalive = false } = asking;
  let response: Response;
  try {
    response = await fetch(new URL(addressAt(server, path)), {
      method,
      signal,
      keepalive,
      headers: {
        ...server.headers,
        ...(server.token !== undefined && { authorization: `Bearer ${server.token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined
        ? { body: JSON.stringify(body) }
        : bytes !== undefined
          ? { body: bytes }
          : form
            ? { body: form }
            : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const cause = error instanceof Error && error.cause ? error.cause : error;
    throw new Unavailable(`${server.url} can't be reached: ${messageOf(cause)}`, { code: "unreachable", cause: error });
  }
  if (response.ok) return response;
  throw await errorOf(response);
}

/** Sends one request and returns the JSON answer. Throws like `ask`. */
export async function askJson<Answer>(server: ServerAccess, path: string, asking?: ClientRequest): Promise<Answer> {
  return (await (await ask(server, path, asking)).json()) as Answer;
}

/** The entries of a list. */
export async function askList<Entry>(
  server: ServerAccess,
  path: string,
  asking?: ClientRequest,
): Promise<readonly Entry[]> {
  return (await askJson<{ readonly data: readonly Entry[] }>(server, path, asking)).data;
}

/** Resolves a path of the server, including its base path. */
export function addressAt(server: ServerAccess, path: string): string {
  return server.url.replace(/\/$/, "") + path;
}

/** Reads the server's error from a failed response. */
export async function errorOf(response: Response): Promise<ColloquyError> {
  const text = await response.text();
  const { code, message, param, problems } = parseError(text);
  return new ColloquyError(
    code ?? "http_error",
    response.status,
    message ?? `HTTP ${response.status}: ${text.slice(0, 200)}`,
    { ...(typeof param === "string" && { param }), ...(Array.isArray(problems) && { problems }) },
  );
}

type SentError = { code?: string; message?: string } & ErrorDetail;

function parseError(text: string): SentError {
  try {
    const { error } = JSON.parse(text) as { error?: SentError };
    return error ?? {};
  } catch {
    return {};
  }
}

/** Of a file, in an address. */
export function encodedPath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Formats a query string such as `?a=1&b=2`, without undefined values; empty if there are none. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size > 0 ? `?${query}` : "";
}

/** Resolves after the time, or as soon as the signal fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener("abort", done);
  });
}
