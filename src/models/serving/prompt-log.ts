import { appendFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { silentLog } from "../../protocol/base/log.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { ModelPart } from "../../protocol/agents/models.ts";
import type { PromptEntry, PromptSink } from "./call-recorder.ts";
import { maskSecrets } from "../transport/mask-secrets.ts";

export type PromptLogOptions = {
  /** `<data>/logs/prompts.log`; older ones get `.1`, `.2`, … */
  readonly path: string;
  /** Secrets that are known, besides what looks like one. */
  readonly secrets?: readonly string[];
  readonly maxBytes?: number;
  /** Files kept, the current one counted. */
  readonly files?: number;
  readonly log?: Log;
};

export type PromptLog = PromptSink & { close(): Promise<void> };

/** More than this waiting for the disk is dropped, with a warning. */
const maxWaiting = 32 << 20;

/** Every prompt and answer in full, a JSON line each. Writing is never waited for; `close` writes what is left. */
export function createPromptLog(options: PromptLogOptions): PromptLog {
  const { path, secrets = [], maxBytes = 10 << 20, files = 5, log = silentLog } = options;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let size: number | undefined;
  let writing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.join("");
      waiting = [];
      waitingBytes = 0;
      try {
        await append(text);
      } catch (error) {
        log.warn({ err: error }, "the prompt log can't be written");
      }
      if (dropped > 0) log.warn({ dropped }, "the prompt log could not keep up; entries were dropped");
      dropped = 0;
    }
  }

  async function append(text: string): Promise<void> {
    if (size === undefined) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      size = await sizeOf(path);
    }
    if (size > 0 && size + text.length > maxBytes) {
      await rotate(path, files);
      size = 0;
    }
    await appendFile(path, text, { mode: 0o600 });
    size += Buffer.byteLength(text);
  }

  return {
    write(entry) {
      const line = maskSecrets(JSON.stringify(lineOf(entry)), secrets) + "\n";
      if (waitingBytes + line.length > maxWaiting) dropped++;
      else {
        waiting.push(line);
        waitingBytes += line.length;
      }
      writing ??= drain().finally(() => (writing = undefined));
    },
    close: async () => writing,
  };
}

function lineOf({ call, request, parts }: PromptEntry): object {
  const { messages, tools, toolChoice, format, settings } = request;
  return { ...call, request: { messages, tools, toolChoice, format, settings }, answer: answerOf(parts) };
}

function answerOf(parts: readonly ModelPart[]): object {
  let text = "";
  let reasoning = "";
  const calls: { name: string; arguments: string }[] = [];
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") reasoning += part.text;
    else if (part.type === "call-start") calls[part.index] = { name: part.name, arguments: "" };
    else if (part.type === "call-delta") calls[part.index]!.arguments += part.arguments;
  }
  return { text, reasoning: reasoning || undefined, calls: calls.length > 0 ? calls : undefined };
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

async function rotate(path: string, files: number): Promise<void> {
  await rm(`${path}.${files - 1}`, { force: true });
  for (let number = files - 2; number >= 1; number--) await renameIfThere(`${path}.${number}`, `${path}.${number + 1}`);
  if (files > 1) await renameIfThere(path, `${path}.1`);
  else await rm(path, { force: true });
}

async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
