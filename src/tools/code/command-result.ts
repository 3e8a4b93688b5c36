import type { FileChange } from "../../protocol/threads/files.ts";
import { defaultSandboxLimits, type SandboxLimits, type SandboxResult } from "../../sandbox/sandbox.ts";

/** What a model is shown of an output: all of it, or its beginning and its end. */
const maxCharacters = 10_000;
const headCharacters = 5_000;
const tailCharacters = 2_000;
const maxFilesNamed = 20;

export function isLong(text: string): boolean {
  return text.length > maxCharacters;
}

export function shortened(text: string): string {
  if (!isLong(text)) return text;
  return `${text.slice(0, headCharacters)}\n... [truncated] ...\n${text.slice(-tailCharacters)}`;
}

/** Why a command did not end by itself, with the limit that it ran into; undefined: it did. */
export function stoppedText(
  { end, full }: Pick<SandboxResult, "end" | "full">,
  limits: Partial<SandboxLimits>,
): string | undefined {
  const { timeoutMs, outputBytes, memoryBytes } = { ...defaultSandboxLimits, ...limits };
  switch (end) {
    case "timed-out":
      return `[ERROR: Command timed out after ${timeoutMs / 1000}s]`;
    case "too-much-output":
      return `[ERROR: Command wrote more than ${megabytes(outputBytes)} and was stopped]`;
    case "out-of-memory":
      return `[ERROR: Command ran out of memory: it may use ${megabytes(memoryBytes)}]`;
    case "disk-full":
      return fullText(full);
    default:
      return undefined;
  }
}

/** Who wrote too much hears what is gone of it. */
function fullText(full: SandboxResult["full"]): string {
  if (!full) return "[ERROR: Too much was written to the temporary folder]";
  const named = (change: FileChange["change"]) => {
    const paths = full.lost.filter((file) => file.change === change).map(({ path }) => path);
    const more = paths.length > maxFilesNamed ? ` and ${paths.length - maxFilesNamed} more` : "";
    return paths.slice(0, maxFilesNamed).join(", ") + more;
  };
  const [removed, cut] = [named("removed"), named("changed")];
  const parts = [
    `Stopped, since ${full.words}`,
    ...(removed === "" ? [] : [`Removed, newest first: ${removed}`]),
    ...(cut === "" ? [] : [`Cut back to their earlier length: ${cut}`]),
    "Remove files that you don't need (rm works)",
  ];
  return `[ERROR: ${parts.join(". ")}]`;
}

/** One line about files, or none. */
export function filesText(files: readonly FileChange[]): string {
  if (files.length === 0) return "";
  const named = files
    .slice(0, maxFilesNamed)
    .map(({ path, bytes, change }) =>
      change === "removed" ? `${path} (removed)` : `${path} (${change}, ${size(bytes)})`,
    );
  const more = files.length > maxFilesNamed ? `, and ${files.length - maxFilesNamed} more` : "";
  return `Files: ${named.join(", ")}${more}`;
}

export function secondsText(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

function size(bytes: number): string {
  return bytes < 1000 ? `${bytes} bytes` : bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : megabytes(bytes);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}
