/** Taiga has five shapes of an error; each function here makes one of them. */

export type ErrorBody = Readonly<Record<string, unknown>>;

export class TaigaError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: ErrorBody, headers: Readonly<Record<string, string>> = {}) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** 1: lists of texts by field. */
export function fieldErrors(errors: Readonly<Record<string, readonly string[]>>): TaigaError {
  return new TaigaError(400, errors);
}

/** 2: a text by field. */
export function wrongDetail(field: string, text: string): TaigaError {
  return new TaigaError(400, { [field]: text });
}

/** 3: a text and the name of an exception. */
export function exception(status: number, name: string, text: string, headers?: Readonly<Record<string, string>>) {
  return new TaigaError(status, { _error_message: text, _error_type: `taiga.base.exceptions.${name}` }, headers);
}

/** 4: a text alone. */
export function notFound(text = ""): TaigaError {
  return new TaigaError(404, { _error_message: text });
}

const challenge = { "WWW-Authenticate": 'Bearer realm="api"' };

/** 5: what signing in and tokens answer. */
export function signInError(detail: string, code: string, messages?: readonly ErrorBody[]): TaigaError {
  return new TaigaError(401, { detail, code, ...(messages && { messages }) }, challenge);
}

export function noMatch(model: string): TaigaError {
  return notFound(`No ${model} matches the given query.`);
}

export function badRequest(text: string): TaigaError {
  return exception(400, "BadRequest", text);
}

export function wrongArguments(text: string): TaigaError {
  return exception(400, "WrongArguments", text);
}

export function notAuthenticated(text = "Authentication credentials were not provided."): TaigaError {
  return exception(401, "NotAuthenticated", text, challenge);
}

export function permissionDenied(text = "You do not have permission to perform this action."): TaigaError {
  return exception(403, "PermissionDenied", text);
}

export function blocked(): TaigaError {
  return exception(451, "Blocked", "Blocked element");
}

export function throttled(seconds: number): TaigaError {
  const wait = Math.max(1, Math.ceil(seconds));
  // Taiga leaves out the space between the two sentences.
  const text = `Request was throttled.Expected available in ${wait} second${wait === 1 ? "" : "s"}.`;
  return exception(429, "Throttled", text, { "X-Throttle-Wait-Seconds": String(wait) });
}
