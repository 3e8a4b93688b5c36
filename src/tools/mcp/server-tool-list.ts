import { z } from "zod";
import type { Log } from "../../protocol/base/log.ts";
import { type Catalogue, type CatalogueOptions, emptyCatalogue, makeCatalogue } from "./catalogue.ts";
import { reasonOf } from "./failures.ts";
import type { OpenClient } from "./open-client.ts";

export type ServerToolListOptions = Omit<CatalogueOptions, "before"> & {
  /** Of one page. */
  readonly pageMs: number;
  readonly log: Log;
};

const maxPages = 64;
const maxTools = 2000;
/** How old a catalogue may become where the server does not tell of changes, and however short a life it names. */
const unwatchedMs = 5 * 60_000;
const shortestLifeMs = 60_000;

const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  ttlMs: z.number().optional().catch(undefined),
});

/** What a server offered last, which stays while it is away; and whether that is still so. One listing at a time. */
export class ServerToolList {
  private readonly options: ServerToolListOptions;
  private listing: Promise<void> | undefined;
  private last: Catalogue = emptyCatalogue;
  private staleAt = Infinity;
  private isOutdated = false;

  constructor(options: ServerToolListOptions) {
    this.options = options;
  }

  get catalogue(): Catalogue {
    return this.last;
  }

  /** It has never told anything. */
  get isUnknown(): boolean {
    return this.last === emptyCatalogue;
  }

  /** It should be asked anew, and nobody does. */
  get isStale(): boolean {
    return !this.listing && performance.now() > this.staleAt;
  }

  /** Hears of changes, as far as the server tells of them. */
  watch(open: OpenClient, changed: () => void): void {
    const { client } = open;
    client.setNotificationHandler("notifications/tools/list_changed", changed);
    if (!tellsOfChanges(open) || client.getProtocolEra() !== "modern") return;
    client.listen({ toolsListChanged: true }).then(
      (subscription) => subscription.closed.then(() => this.age(unwatchedMs)),
      () => this.age(unwatchedMs),
    );
  }

  /** Lists anew; never rejects. */
  refresh(open: OpenClient): Promise<void> {
    // What changes during a listing may be missing in it.
    this.isOutdated = this.listing !== undefined;
    this.listing ??= this.listTwiceAtMost(open).finally(() => {
      this.listing = undefined;
    });
    return this.listing;
  }

  private async listTwiceAtMost(open: OpenClient): Promise<void> {
    try {
      await this.list(open);
      if (this.isOutdated) await this.list(open);
    } catch (error) {
      this.age(shortestLifeMs);
      const { server, log } = this.options;
      log.warn({ server, reason: reasonOf(error) }, "an MCP server did not list its tools");
    }
  }

  async list(open: OpenClient): Promise<void> {
    const { server, log } = this.options;
    const { tools, lifeMs } = await listAll(open, this.options.pageMs);
    this.last = await makeCatalogue(tools, { ...this.options, before: this.last });
    this.staleAt = Infinity;
    if (lifeMs !== undefined) this.age(Math.max(lifeMs, shortestLifeMs));
    else if (!tellsOfChanges(open)) this.age(unwatchedMs);
    for (const { tool, reason } of this.last.unusable)
      log.warn({ server, tool, reason }, "a tool of an MCP server can't be offered");
  }

  private age(lifeMs: number): void {
    this.staleAt = Math.min(this.staleAt, performance.now() + lifeMs);
  }
}

function tellsOfChanges({ client }: OpenClient): boolean {
  return client.getServerCapabilities()?.tools?.listChanged === true;
}

/** All pages, as far as there are reasonably many. */
async function listAll(
  { client }: OpenClient,
  timeout: number,
): Promise<{ tools: readonly unknown[]; lifeMs: number | undefined }> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  let lifeMs: number | undefined;
  if (!client.getServerCapabilities()?.tools) return { tools, lifeMs };
  for (let page = 0; page < maxPages && tools.length < maxTools; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, pageSchema, { timeout });
    tools.push(...answer.tools.slice(0, maxTools - tools.length));
    lifeMs ??= answer.ttlMs;
    if (answer.nextCursor === undefined || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return { tools, lifeMs };
}
