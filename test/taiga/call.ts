import type { Taiga } from "./server.ts";
import type { Username } from "./sample-data.ts";

export type Called = {
  readonly status: number;
  readonly headers: Headers;
  /** A JSON object; empty when it is none. */
  readonly body: Shown;
  /** A JSON array of objects; empty when it is none. */
  readonly rows: readonly Shown[];
  readonly text: string;
};

export type Shown = Readonly<Record<string, unknown>>;

export type CallOptions = {
  readonly as?: Username | undefined;
  /** Instead of the token of `as`. */
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** One request: `call(taiga, "GET /milestones?project=1", { as: "bruno" })`. */
export async function call(taiga: Taiga, what: string, options: CallOptions = {}): Promise<Called> {
  const [method = "GET", path = "/"] = what.split(" ");
  const { as, authorization = as && `Bearer ${taiga.tokensOf(as).auth_token}`, body } = options;
  const response = await fetch(taiga.api + path, {
    method,
    headers: {
      ...(authorization && { authorization }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const content = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true && content !== "";
  const parsed: unknown = isJson ? JSON.parse(content) : undefined;
  return {
    status: response.status,
    headers: response.headers,
    body: typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Shown) : {},
    rows: Array.isArray(parsed) ? (parsed as Shown[]) : [],
    text: content,
  };
}
