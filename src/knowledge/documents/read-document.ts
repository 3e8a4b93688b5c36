import { join } from "node:path";
import { type ParserProcess, startChild } from "../parse/run-child.ts";
import { UnreadableFile } from "../parse/parsed.ts";

/** The document to read, and where to write its content. */
export type DocumentRequest = {
  readonly path: string;
  /** As people know it; it tells texts apart. */
  readonly name: string;
  /** Characters of its text that are taken. */
  readonly maxText: number;
  /** All of its text, as UTF-8. */
  readonly textFile: string;
  /** A chunk a line, as JSON. */
  readonly chunksFile: string;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
};

/** Content found in a document. */
export type ReadContent = {
  readonly kind: string;
  readonly mediaType: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly pages: number | null;
  readonly characters: number;
  readonly chunks: number;
};

export type DocumentReader = {
  /**
   * Reads and cuts a document in a process apart, which writes the text and the chunks. Throws UnreadableFile, with a message
   * for people, also if there is no text in it; the signal's reason when that fires.
   */
  read(
    request: DocumentRequest,
    options: { readonly owner: string; readonly signal: AbortSignal },
  ): Promise<ReadContent>;
  close(): void;
};

const timeoutMs = 5 * 60_000;
const outputBytes = 4 * 1024 * 1024;
/** A process takes longer to start than most documents to read, so it reads several, of one person. */
const maxUses = 50;
const idleMs = 10_000;

type IdleParser = {
  readonly owner: string;
  readonly child: ParserProcess;
  readonly uses: number;
  readonly timer: NodeJS.Timeout;
};

export function createDocumentReader(): DocumentReader {
  const spares = new Set<IdleParser>();

  function take(owner: string): { readonly child: ParserProcess; readonly uses: number } {
    for (const spare of spares) {
      if (spare.owner !== owner) continue;
      drop(spare);
      if (spare.child.isAlive()) return spare;
    }
    return { child: startChild(join(import.meta.dirname, "read-document-child.ts")), uses: 0 };
  }

  function drop(spare: IdleParser): void {
    clearTimeout(spare.timer);
    spares.delete(spare);
  }

  function giveBack(owner: string, child: ParserProcess, uses: number): void {
    if (!child.isAlive() || uses >= maxUses) return child.end();
    const end = () => {
      spares.delete(spare);
      child.end();
    };
    const spare: IdleParser = { owner, child, uses, timer: setTimeout(end, idleMs).unref() };
    spares.add(spare);
  }

  async function read(
    request: DocumentRequest,
    options: { readonly owner: string; readonly signal: AbortSignal },
  ): Promise<ReadContent> {
    const { owner, signal } = options;
    const { child, uses } = take(owner);
    try {
      return await child.ask<ReadContent>(request, { signal, timeoutMs, outputBytes });
    } catch (error) {
      // State left by earlier documents in the process may be the cause: try once more in a new one.
      if (uses > 0 && !child.isAlive() && error instanceof UnreadableFile && error.code !== "too-slow")
        return await read(request, options);
      throw error;
    } finally {
      giveBack(owner, child, uses + 1);
    }
  }

  return {
    read,
    close() {
      for (const spare of spares) {
        drop(spare);
        spare.child.end();
      }
    },
  };
}
