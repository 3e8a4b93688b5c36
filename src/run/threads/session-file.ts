import { mkdir, open, rename, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { textOf, type Item } from "../../protocol/threads/items.ts";
import { isErased, isNested } from "../log/fold.ts";

export type SessionMessage = {
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly timestamp: string;
};

export type SessionHead = { readonly name: string; readonly title: string; readonly updated: Date };

/** How a file was left. Whoever else writes to it changes this, and it is written whole next time. */
export type WrittenFile = {
  readonly path: string;
  readonly size: number;
  readonly inode: bigint;
  readonly changedNs: bigint;
  /** Where the time stands in it. */
  readonly timeAt: number;
  readonly messages: number;
};

/** What was said aloud. */
export function sessionMessage(item: Item): SessionMessage[] {
  if (item.kind !== "message" || isNested(item) || isErased(item) || item.body.role === "system") return [];
  const { role, content } = item.body;
  const text = textOf(content);
  return text === "" ? [] : [{ role, content: text, timestamp: item.createdAt }];
}

const end = "\n  ]\n}\n";
/** Written at a time, so that a long conversation holds up nobody else. */
const messagesAtOnce = 256;

/** Writes a session's file whole: `{session_id, title, updated_at, messages}` with indents, for people to read. A reader never sees half of it. */
export async function writeSessionFile(
  path: string,
  { name, title, updated }: SessionHead,
  messages: readonly SessionMessage[],
): Promise<WrittenFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${process.pid}.part`;
  const [before = "", after = ""] = JSON.stringify(
    { session_id: name, title, updated_at: "", messages: [] },
    null,
    2,
  ).split(/(?<="updated_at": ")(?=",\n  "messages": \[\]\n\}$)/);
  const time = updated.toISOString();
  const handle = await open(part, "w", 0o600);
  try {
    const head = before + time + after.replace("[]\n}", "[");
    await handle.appendFile(head);
    for (let first = 0; first < messages.length; first += messagesAtOnce)
      await handle.appendFile(textOfMessages(messages.slice(first, first + messagesAtOnce), first));
    await handle.appendFile(messages.length === 0 ? "]\n}\n" : end);
    await rename(part, path);
    return await leftAs(handle, { path, timeAt: Buffer.byteLength(before), messages: messages.length });
  } finally {
    await handle.close();
  }
}

/**
 * Writes more messages at the end of a file, which costs what they are long. Undefined: the file is not as it was left, so
 * it must be written whole. A reader sees the messages of before or all, unless it reads in the instant of the write.
 */
export async function extendSessionFile(
  written: WrittenFile,
  updated: Date,
  messages: readonly SessionMessage[],
): Promise<WrittenFile | undefined> {
  if (written.messages === 0) return undefined;
  const handle = await open(written.path, "r+").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size, ino, mtimeNs } = await handle.stat({ bigint: true });
    if (ino !== written.inode || mtimeNs !== written.changedNs || Number(size) !== written.size) return undefined;
    if (messages.length > 0) {
      const more = Buffer.from(textOfMessages(messages, written.messages) + end);
      const { bytesWritten } = await handle.write(more, 0, more.length, written.size - end.length);
      if (bytesWritten < more.length) return undefined;
    }
    await handle.write(updated.toISOString(), written.timeAt);
    return await leftAs(handle, { ...written, messages: written.messages + messages.length });
  } finally {
    await handle.close();
  }
}

function textOfMessages(messages: readonly SessionMessage[], before: number): string {
  return messages
    .map((message, at) => {
      const text = JSON.stringify(message, null, 2).replaceAll("\n", "\n    ");
      return `${before + at === 0 ? "" : ","}\n    ${text}`;
    })
    .join("");
}

async function leftAs(
  handle: FileHandle,
  known: Pick<WrittenFile, "path" | "timeAt" | "messages">,
): Promise<WrittenFile> {
  const { size, ino, mtimeNs } = await handle.stat({ bigint: true });
  const { path, timeAt, messages } = known;
  return { path, timeAt, messages, size: Number(size), inode: ino, changedNs: mtimeNs };
}
