import { z } from "zod";
import { isUnclearStatus } from "../core/nothing-done.ts";

/** Taiga refused a request, or could not be asked. The message is for models and people, and holds no secret. */
export class TaigaFailure extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  /** A write may have been done all the same. */
  readonly isInDoubt: boolean;
  /** The version that was sent is not the newest, and others have changed the same fields since. */
  readonly isConflict: boolean;
  /** Nobody said anything: the request may still be worked on. */
  readonly isSilent: boolean;

  constructor(
    status: number,
    message: string,
    {
      inDoubt = false,
      conflict = false,
      silent = false,
      cause,
    }: { inDoubt?: boolean; conflict?: boolean; silent?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = "TaigaFailure";
    this.status = status;
    this.isInDoubt = inDoubt;
    this.isConflict = conflict;
    this.isSilent = silent;
  }
}

const longest = 500;
const texts = z.union([z.string().transform((text) => [text]), z.array(z.string())]);

/** One clear error of whichever form Taiga gave it: a named exception, a text, a login's detail, or texts by field. */
export function failureOf(status: number, body: unknown): TaigaFailure {
  const fields = z.record(z.string(), z.unknown()).safeParse(body).data ?? {};
  const conflict = status === 400 && String(fields["version"] ?? "").includes("doesn't match");
  const said = textIn(fields) ?? (typeof body === "string" ? body : "");
  const short = said.replaceAll(/\s+/g, " ").trim().slice(0, longest);
  // After a 500 nobody can tell how far the request came. A throttled one is not looked at.
  const inDoubt = isUnclearStatus(status) && status !== 429;
  return new TaigaFailure(status, `Taiga: ${sentence(status, short)}`, { inDoubt, conflict });
}

function textIn(fields: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of ["_error_message", "detail"]) {
    const text = fields[key];
    if (typeof text === "string" && text !== "") return text;
  }
  const lines = Object.entries(fields).flatMap(([field, value]) => {
    const parsed = texts.safeParse(value);
    return parsed.success && !field.startsWith("_") && field !== "code" ? [`${field}: ${parsed.data.join(" ")}`] : [];
  });
  return lines.length > 0 ? lines.join(" ") : undefined;
}

function sentence(status: number, said: string): string {
  const words = wordsOf[status] ?? (status >= 500 ? "it failed" : "it refused the request");
  return said === "" ? `${words} (${status}).` : `${words} (${status}): ${said}`;
}

const wordsOf: Readonly<Record<number, string>> = {
  400: "the request is not valid",
  401: "the login is not valid, or not any more",
  403: "you may not do this",
  404: "not found, or you don't have access",
  429: "too many requests",
  451: "the project is blocked, nothing can be changed in it",
};
