import { t } from "@lingui/core/macro";
import { isJsonObject, parseExactly } from "../../src/protocol/base/exact-json.ts";
import type { BlockOf } from "../../src/client/conversation.ts";
import { failedExitCode } from "../parts/exit-code.ts";
import { duration } from "../parts/format.ts";

export type CallState = { readonly mark: string; readonly text: string; readonly tone: string };

export function stateOfCall(
  { result, run, startedAt, endedAt, kept }: BlockOf<"call">,
  question?: BlockOf<"question">,
): CallState {
  if (!result) return { mark: "…", text: t`running`, tone: "text-muted" };
  if (question?.decision === "deny") return { mark: "–", text: t`denied`, tone: "text-muted" };
  switch (result.outcome) {
    case "not-run":
      return { mark: "–", text: t`not run`, tone: "text-muted" };
    case "interrupted":
      return { mark: "✗", text: t`interrupted`, tone: "text-warn" };
    case "unknown":
      return { mark: "?", text: t`outcome unknown`, tone: "text-warn" };
    default: {
      const [mark, word, tone] = endOf(result);
      if (kept !== undefined) return { mark, text: `${word}, ${t`kept`}`, tone: "text-muted" };
      // A copy of another conversation has the times of its copying.
      const took =
        endedAt === undefined || run === undefined ? "" : duration(Date.parse(endedAt) - Date.parse(startedAt));
      return { mark, text: took === "" ? word : `${word} ${took}`, tone };
    }
  }
}

function endOf({ isError, data }: NonNullable<BlockOf<"call">["result"]>): readonly [string, string, string] {
  if (isError) return ["✗", t`failed`, "text-bad"];
  const code = failedExitCode(data);
  return code === undefined ? ["✓", t`done`, "text-ok"] : ["✗", t`exit code ${code}`, "text-warn"];
}

/** The arguments in short: the values alone where that is clear. */
export function shortArguments(given: string): string {
  const parsed = objectIn(given);
  if (!parsed) return given.replaceAll(/\s+/g, " ").trim().slice(0, 300);
  const entries = Object.entries(parsed);
  const [only] = entries;
  if (entries.length === 1 && only) return inShort(only[1]).slice(0, 300);
  return entries
    .slice(0, 6)
    .map(([name, value]) => `${name}: ${inShort(value)}`)
    .join(", ")
    .slice(0, 300);
}

export function objectIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseExactly(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function inShort(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 200);
}

/** Set out in lines; what is no JSON as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(parseExactly(text), null, 2);
  } catch {
    return text;
  }
}
