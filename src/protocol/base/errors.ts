/** Where in the request the fault is, for dialects that name a parameter. */
export type ErrorDetail = {
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  /** Where there are several: each with its path in what was sent. */
  readonly problems?: readonly { readonly path: string; readonly message: string }[];
};

/**
 * A failure of the program or of the caller. `code` is stable and for machines, `status` is the HTTP
 * status it maps to, the message says what to do. Failures a model may react to are values, not errors.
 */
export class ColloquyError extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: ErrorDetail;

  constructor(code: string, status: number, message: string, options?: ErrorOptions & ErrorDetail) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.detail = {
      param: options?.param,
      retryAfterSeconds: options?.retryAfterSeconds,
      problems: options?.problems,
    };
  }
}

/** 400: the caller sent something that can't be right. */
export class InvalidInput extends ColloquyError {
  constructor(
    message: string,
    options?: ErrorOptions & ErrorDetail & { code?: string; status?: 400 | 413 | 415 | 416 | 422 },
  ) {
    super(options?.code ?? "invalid_input", options?.status ?? 400, message, options);
  }
}

/** 404: there is no such thing, or not for this caller. */
export class NotFound extends ColloquyError {
  constructor(message: string, options?: ErrorOptions & ErrorDetail & { code?: string }) {
    super(options?.code ?? "not_found", 404, message, options);
  }
}

/** 401 (who are you) or 403 (you may not). */
export class AccessDenied extends ColloquyError {
  constructor(status: 401 | 403, message: string, options?: ErrorOptions & { code?: string }) {
    super(options?.code ?? (status === 401 ? "unauthorized" : "forbidden"), status, message, options);
  }
}

/** 409: right in itself, but not in this state. */
export class Conflict extends ColloquyError {
  constructor(message: string, options?: ErrorOptions & { code?: string }) {
    super(options?.code ?? "conflict", 409, message, options);
  }
}

export type ModelErrorKind =
  | "refused" // the request itself: 400, 404, 422
  | "context" // the prompt does not fit
  | "auth" // 401, 403
  | "rate-limit" // 429
  | "overloaded" // 503, 529
  | "unreachable" // no connection
  | "timeout"
  | "cut" // the stream ended without its end mark
  | "garbage" // not the protocol
  | "server" // other 5xx, or an error in mid-stream
  | "aborted"; // by us

/** Who was asked: which kind of provider, what it calls the model, and where, without a path. */
export type AskedServer = { readonly provider: string; readonly model: string; readonly host?: string | undefined };

/** A model call failed. The message names model, endpoint and cause; never a key. */
export class ModelError extends ColloquyError {
  readonly kind: ModelErrorKind;
  /** May the same request be tried again (only asked before the first part). */
  readonly retryable: boolean;
  readonly upstreamStatus: number | undefined;
  readonly server: AskedServer | undefined;
  /** Of `context`: how many tokens the model holds, if the provider said it. */
  readonly contextTokens: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options?: ErrorOptions & {
      upstreamStatus?: number;
      retryable?: boolean;
      retryAfterSeconds?: number;
      server?: AskedServer | undefined;
      contextTokens?: number;
    },
  ) {
    super(`model_${kind.replace("-", "_")}`, statusOfModelError[kind], message, options);
    this.kind = kind;
    this.upstreamStatus = options?.upstreamStatus;
    this.server = options?.server;
    this.contextTokens = options?.contextTokens;
    this.retryable =
      options?.retryable ?? ["rate-limit", "overloaded", "unreachable", "timeout", "cut", "server"].includes(kind);
  }
}

const statusOfModelError: Record<ModelErrorKind, number> = {
  refused: 400,
  context: 400,
  auth: 502,
  "rate-limit": 429,
  overloaded: 503,
  unreachable: 502,
  timeout: 504,
  cut: 502,
  garbage: 502,
  server: 502,
  aborted: 499,
};

/** 503: something the server needs is not there now; it may be later. */
export class Unavailable extends ColloquyError {
  constructor(message: string, options?: ErrorOptions & ErrorDetail & { code?: string }) {
    super(options?.code ?? "unavailable", 503, message, options);
  }
}

/** This process no longer owns the run: whoever sees it stops at once and writes nothing. */
export class LostRun extends ColloquyError {
  constructor(run: string) {
    super("lost_run", 503, `Run ${run} is now owned by another process.`);
  }
}

/** The run waits now: whoever works on it has nothing left to do. It is no fault. */
export class RunWaits extends Error {
  constructor() {
    super("The run waits.");
  }
}

/** The message of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
