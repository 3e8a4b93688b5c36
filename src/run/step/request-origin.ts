import { createHmac, timingSafeEqual } from "node:crypto";
import type { RunOwner } from "../log/append.ts";

/**
 * On requests that models and tools of a run send to our own server: whose run they are part of, so that what they start
 * counts as that run's own work and waits for nobody. Signed, so that nobody else can spend its budget.
 */
export const parentHeader = "x-colloquy-parent";

/** A run at its epoch, and the step that asks. */
export type RequestOrigin = Pick<RunOwner, "runId" | "epoch"> & { readonly step: string };

export function ownHeader(
  secret: string,
  { runId, epoch, step }: RequestOrigin,
): readonly [name: string, value: string] {
  const text = Buffer.from(JSON.stringify([runId, epoch, step])).toString("base64url");
  return [parentHeader, `${text}.${signatureOf(secret, text)}`];
}

/** Undefined for what was not signed with this secret. */
export function readOrigin(secret: string, header: string): RequestOrigin | undefined {
  const [text = "", signature = ""] = header.split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(secret, text))];
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  const [runId, epoch, step] = JSON.parse(Buffer.from(text, "base64url").toString()) as [string, number, string];
  return { runId, epoch, step };
}

function signatureOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(`colloquy: parent of a request\n${text}`).digest("base64url");
}
