import type { IncomingHttpHeaders } from "node:http";
import type { Answer, Body } from "./context.ts";
import { exception, TaigaError } from "./errors.ts";
import { findRoute } from "./routes.ts";
import type { SeenRequest } from "./seen-request.ts";
import type { TaigaState } from "./state.ts";
import { isWrite, type Throttle } from "./throttle.ts";
import type { Tokens } from "./tokens.ts";

export type ToAnswer = {
  readonly state: TaigaState;
  readonly tokens: Tokens;
  readonly limit: Throttle | undefined;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly seen: SeenRequest;
  readonly parsed: Body | TaigaError;
};

/** Does what was asked, whole and at once, and notes it in the log. Order as in Taiga: path, who, how often, what. */
export function answerOf({ state, tokens, limit, url, headers, seen, parsed }: ToAnswer): Answer {
  const answer = asAnswer(() => {
    const found = url.pathname.startsWith("/api/v1/") ? findRoute(seen.method, seen.path) : undefined;
    if (!found) return unknownPath;
    const user = tokens.userOf(headers.authorization);
    limit?.count(user?.username ?? "anonymous", seen.method);
    if (parsed instanceof TaigaError) throw parsed;
    const { world } = state;
    const { method, query } = seen;
    return found.route.handle({ world, tokens, user, method, url, query, headers, body: parsed, id: found.id });
  });
  seen.status = answer.status;
  seen.effect = isWrite(seen.method) && !seen.path.startsWith("/auth") && answer.status < 300;
  return answer;
}

const unknownPath: Answer = {
  status: 404,
  body: "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>",
  headers: { "content-type": "text/html" },
};

function asAnswer(handle: () => Answer): Answer {
  try {
    return handle();
  } catch (error) {
    if (error instanceof TaigaError) return error;
    throw error;
  }
}

/** An object, or why it is none. */
export function parseBody(method: string, type: string | undefined, content: string): Body | TaigaError {
  if (!isWrite(method) || content === "") return {};
  if (!type?.startsWith("application/json")) {
    return exception(415, "UnsupportedMediaType", `Unsupported media type '${type ?? ""}' in request.`);
  }
  try {
    const parsed: unknown = JSON.parse(content);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Body;
    return exception(400, "ParseError", "JSON parse error - an object is expected");
  } catch (error) {
    return exception(400, "ParseError", `JSON parse error - ${error instanceof Error ? error.message : ""}`);
  }
}
