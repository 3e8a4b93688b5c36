import { isJsonObject, parseExactly } from "../../src/protocol/base/exact-json.ts";
import type { BlockOf } from "../../src/client/conversation.ts";
import { failedExitCode } from "../parts/exit-code.ts";
import { duration } from "../parts/format.ts";
import { words } from "../words/words.ts";

export type CallState = { readonly mark: string; readonly text: string; readonly tone: string };

export function stateOfCall(
  { result, run, startedAt, endedAt, kept }: BlockOf<"call">,
  question?: BlockOf<"question">,
): CallState {
  if (!result) return { mark: "…", text: words.running, tone: "text-muted" };
  if (question?.decision === "deny") return { mark: "–", text: words.denied, tone: "text-muted" };
  switch (result.outcome) {
    case "not-run":
      return { mark: "–", text: words.notRun, tone: "text-muted" };
    case "interrupted":
      return { mark: "✗", text: words.interrupted, tone: "text-warn" };
    case "unknown":
      return { mark: "?", text: words.unknown, tone: "text-warn" };
    default: {
      const [mark, word, tone] = endOf(result);
      if (kept !== undefined) return { mark, text: `${word}, ${words.kept}`, tone: "text-muted" };
      // A copy of another conversation has the times of its copying.
      const took =
        endedAt === undefined || run === undefined ? "" : duration(Date.parse(endedAt) - Date.parse(startedAt));
      return { mark, text: took === "" ? word : `${word} ${took}`, tone };
    }
  }
}

function endOf({ isError, data }: NonNullable<BlockOf<"call">["result"]>): readonly [string, string, string] {
  if (isError) return ["✗", words.failedCall, "text-bad"];
  const code = failedExitCode(data);
  return code === undefined ? ["✓", words.done, "text-ok"] : ["✗", words.exitCode(code), "text-warn"];
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
