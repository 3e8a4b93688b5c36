import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createGzip } from "node:zlib";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callerOf } from "../protocol/base/callers.ts";
import { NotFound } from "../protocol/base/errors.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Threads } from "../run/runs.ts";
import type { Workspaces } from "../sandbox/workspace/workspaces.ts";
import { messagesInThread, threadsSpokenIn } from "../store/privacy/personal-items.ts";
import { filesOfPerson, pagesOfPerson, personalAccount, personalRows } from "../store/privacy/personal-rows.ts";
import { findUser } from "../store/people/users.ts";
import { publicItem } from "../protocol/threads/public-views.ts";
import { tarOf, type TarFile } from "./tar.ts";

/** What a person may take with them. */
export type Persons = {
  /** All that there is of them, as a `.tar.gz`. Throws NotFound. */
  archive(userId: string): Promise<Readable>;
};

export type PersonSources = {
  readonly query: Query;
  readonly threads: Pick<Threads, "listItems">;
  readonly workspaces: Pick<Workspaces, "find">;
  /** Where the bytes of a file are. Throws NotFound. */
  readonly placeOf: (kind: "uploads" | "documents", file: string) => string;
};

/** All that there is of a person, as a `.tar.gz` that is made while it is read. */
export async function archivePerson(sources: PersonSources, userId: string): Promise<Readable> {
  const account = await personalAccount(sources.query, userId);
  if (!account) throw new NotFound(`User ${userId} not found.`, { code: "user_not_found" });
  const gzip = createGzip({ level: 4 });
  // What goes wrong breaks the archive off; whoever reads it sees that it is cut.
  pipeline(Readable.from(tarOf(partsOf(sources, account)), { objectMode: false }), gzip).catch(() => {});
  return gzip;
}

async function* partsOf(
  sources: PersonSources,
  account: NonNullable<Awaited<ReturnType<typeof personalAccount>>>,
): AsyncGenerator<TarFile> {
  const { query } = sources;
  const { id: userId, name } = account;
  yield jsonFile("account.json", { format: "colloquy-person/1", madeAt: new Date(), account });
  for (const rows of personalRows) yield* numbered(rows.name, pagesOfPerson(query, userId, rows));
  for await (const threads of pagesOfPerson(
    query,
    userId,
    personalRows.find((rows) => rows.name === "threads")!,
  ))
    for (const { id } of threads) yield* threadParts(sources, userId, String(id));
  for (const threadId of await threadsSpokenIn(query, userId, name))
    yield* numbered(`said-elsewhere/${threadId}`, messagesInThread(query, userId, { name, threadId }));
  for await (const { kind, id, name: fileName, file } of filesOfPerson(query, userId))
    yield* storedFile(sources.placeOf(kind, file), `${kind}/${id}/${plainName(fileName)}`);
}

/** Its items, and the files of its workspace. */
async function* threadParts({ query, threads, workspaces }: PersonSources, userId: string, threadId: string) {
  const user = await findUser(query, userId);
  if (!user) return;
  yield* numbered(`threads/${threadId}/items`, itemPages(threads, callerOf(user, "local"), threadId));
  const workspace = await workspaces.find(threadId).catch(() => undefined);
  if (!workspace) return;
  const { entries } = await workspace.list({ most: maxFiles });
  for (const { path, kind } of entries) {
    if (kind !== "file") continue;
    // Commands may be at work there: what has gone meanwhile is left out.
    const file = await workspace.openFile(path).catch(() => undefined);
    if (!file) continue;
    yield {
      name: `threads/${threadId}/files/${path}`,
      bytes: file.bytes,
      modified: file.modified,
      content: quietly(file.read()),
    };
  }
}

const maxFiles = 50_000;

async function* itemPages(
  threads: PersonSources["threads"],
  caller: Parameters<Threads["listItems"]>[0],
  threadId: string,
) {
  for (let after = 0; ;) {
    const items = await threads.listItems(caller, threadId, { after, limit: 500 }).catch((error: unknown) => {
      // It was deleted meanwhile.
      if (error instanceof NotFound) return [];
      throw error;
    });
    if (items.length === 0) return;
    yield items.map(publicItem);
    after = items.at(-1)!.seq;
  }
}

/** `<name>-00001.jsonl`, `<name>-00002.jsonl` …, each a page: an archive must know how long a file is before it begins. */
async function* numbered(name: string, pages: AsyncIterable<readonly object[]>): AsyncGenerator<TarFile> {
  let number = 0;
  for await (const rows of pages) {
    const text = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const part = String(++number).padStart(5, "0");
    yield { name: `${name}-${part}.jsonl`, bytes: text.length, modified: new Date(), content: [text] };
  }
}

function jsonFile(name: string, value: object): TarFile {
  const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  return { name, bytes: text.length, modified: new Date(), content: [text] };
}

async function* storedFile(place: string, name: string): AsyncGenerator<TarFile> {
  const stats = await stat(place).catch(() => undefined);
  if (!stats?.isFile()) return;
  const content = createReadStream(place, { end: Math.max(0, stats.size - 1) }) as AsyncIterable<Uint8Array>;
  yield { name, bytes: stats.size, modified: stats.mtime, content: quietly(content) };
}

/** One that is removed or cut while it is read ends early. */
async function* quietly(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch {
    // The archive fills it up.
  }
}

function plainName(name: string): string {
  return name.replaceAll(/[/\\\p{Cc}]/gu, "_") || "file";
}
