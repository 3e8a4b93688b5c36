import type { Tool, ToolServer } from "../../protocol/agents/tools.ts";
import type { Runtime } from "../contract/runtime.ts";
import { addressMentions, unmentionedTexts } from "./named-addresses.ts";
import { type RunTree, threadsOfTree } from "./untrusted.ts";

/** Receivers of the data that a call would send out, once external content was read. */
export type DataReceivers = {
  /** Hosts, and servers of tools as `mcp:<name>`; undefined: it is asked about each time. */
  readonly receivers?: readonly string[];
  /** A person's "always" for such arguments lifts it. */
  readonly isGrantable?: true;
};

export type OutgoingCall = RunTree & {
  readonly runtime: Runtime;
  /** Whose text was read. */
  readonly sources: readonly string[];
  readonly tool: Tool;
  readonly input: unknown;
};

/**
 * How many addresses that no person has named are read without a question. Which of many links is followed tells their author
 * something, so that a text with a link for each letter could have a secret spelled. A search engine stands between the author of
 * a page and its results, and nothing is told but what was said so long as the tree has read nothing of its person's own.
 */
const freeFound = { beforeOwn: 20, afterOwn: 5 };
const freeLinks = 3;

const maxReads = 200;
const maxTexts = 50;

/** Whom a call tells something that it may have been made to tell; undefined: nobody. */
export async function receiversOfCall(telling: OutgoingCall): Promise<DataReceivers | undefined> {
  const { tool, sources, input } = telling;
  const { server, hosts, reaches } = tool;
  if (tool.sendsOut) return {};
  if (hosts?.length) return { receivers: hosts };
  if (server && tool.effect === "write") {
    const isItsOwn = sources.every((source) => source === `mcp:${server.name}`);
    return isItsOwn && server.isConfined ? undefined : { receivers: [`mcp:${server.name}`] };
  }
  if (server) return server.isConfined || server.openWorld === false ? undefined : readAtServer(telling, server);
  const address = reaches?.(input);
  if (address === undefined) return undefined;
  const strange = await strangeAddresses(telling, [address]);
  return strange.length > 0 ? { receivers: strange.map(hostOf), isGrantable: true } : undefined;
}

/**
 * A read at a server of which nobody says that its world is closed. An address must be named as one for `fetch_page`. Other words
 * are the server's own, a person's, or (of a server that does not say that its world is open) told after its own texts alone.
 */
async function readAtServer(telling: OutgoingCall, server: ToolServer): Promise<DataReceivers | undefined> {
  const { tool, input, sources, runtime } = telling;
  const said = saidIn(tool.parameters);
  const texts = [...new Set(textsIn(input))].filter((text) => !said.has(text));
  if (texts.length === 0) return undefined;
  const receiver = `mcp:${server.name}`;
  if (texts.length > maxTexts) return { receivers: [receiver] };
  const strange = await strangeAddresses(telling, texts.filter(isAddress));
  if (strange.length > 0) return { receivers: [...new Set(strange.map(hostOf))] };
  const words = texts.filter((text) => !isAddress(text));
  const isItsOwn = server.openWorld !== true && sources.every((source) => source === receiver);
  if (words.length === 0 || isItsOwn) return undefined;
  const unsaid = await unmentionedTexts(runtime.database.query, telling, { texts: words, server: server.name });
  return unsaid.length > 0 ? { receivers: [receiver] } : undefined;
}

/** Those of these addresses that no person has named, and that are not among the few that may be followed so. */
async function strangeAddresses(telling: OutgoingCall, addresses: readonly string[]): Promise<readonly string[]> {
  if (addresses.length === 0) return [];
  const { runtime } = telling;
  const before = (await readBefore(telling)).filter((address) => !addresses.includes(address));
  const namings = await addressMentions(runtime.database.query, telling, [...new Set([...before, ...addresses])]);
  const followed = before.filter((address) => !namings.get(address)?.byPerson);
  const found = followed.filter((address) => namings.get(address)?.isFound);
  const isOwnRead = await hasReadOwn(telling);
  const sites = new Set(followed.map(siteOf));
  return addresses.filter((address) => {
    const { byPerson, isFound, isLinked } = namings.get(address)!;
    if (byPerson) return false;
    if (isFound && !isOwnRead) return found.length >= freeFound.beforeOwn;
    // One page per site: a choice among a site's own pages could spell out a secret.
    if (isFound) return found.length >= freeFound.afterOwn || sites.has(siteOf(address));
    return !isLinked || isOwnRead || followed.length - found.length >= freeLinks;
  });
}

/** The addresses that calls of the tree have asked for, those of the same answer too. */
async function readBefore({ runtime, rootRun, userId: _, tool }: OutgoingCall): Promise<readonly string[]> {
  const tools = runtime.tools.list().filter(({ reaches }) => reaches);
  const rows = await runtime.database.query<{ name: string; given: string }>(
    `select distinct body ->> 'name' as name, body ->> 'arguments' as given from items
     where thread_id in (${threadsOfTree}) and kind = 'call' and body ->> 'name' = any($2) limit ${maxReads}`,
    [rootRun, [...new Set([tool, ...tools].map(({ name }) => name))]],
  );
  const read = rows.flatMap(({ name, given }) => {
    const input = parsed(given);
    const reader = tools.find((each) => each.name === name);
    const known = reader?.input.safeParse(input);
    if (!known?.success) return textsIn(input).filter(isAddress);
    return reader?.reaches?.(known.data) ?? [];
  });
  return [...new Set(read)];
}

/** Whether the tree has read what only its person knows: a task, a file, a document, a server of tools. */
async function hasReadOwn({ runtime, rootRun }: OutgoingCall): Promise<boolean> {
  const rows = await runtime.database.query<{ tool: string | null }>(
    `select distinct author as tool from items where thread_id in (${threadsOfTree})
       and kind = 'result' and body -> 'isError' is null
     union select null from items where thread_id in (${threadsOfTree}) and kind = 'message' and body -> 'files' is not null
     union select null from threads where id in (${threadsOfTree}) and files_brought`,
    [rootRun],
  );
  return rows.some(({ tool }) => tool === null || !(runtime.tools.get(tool)?.isPublic ?? tool === "search_tools"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** All texts of a call's arguments, with the names that it gives things, and with numbers that are long enough to tell something. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (typeof value === "number" || typeof value === "bigint") return String(value).length > 6 ? [String(value)] : [];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  // A number as it was written.
  if ("text" in value && typeof value.text === "string" && Object.keys(value).length === 1) return [value.text];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsIn(part)]);
}

/** Collects the texts in a schema: names of arguments, and allowed values. */
function saidIn(schema: unknown): ReadonlySet<string> {
  const said = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part === "string") said.add(part);
    else if (typeof part === "object" && part !== null)
      for (const [key, inner] of Object.entries(part)) {
        said.add(key);
        if (key !== "description" && key !== "title") visit(inner);
      }
  };
  visit(schema);
  return said;
}

/** `https://…`, `host.example/…` and `a.host.example`, but no name of a file. */
function isAddress(text: string): boolean {
  return (
    text.includes("://") ||
    /^(\/\/|www\.)/i.test(text) ||
    (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.[a-z]{2,}([:/?#]|$)/i.test(text) &&
      (/[:/?#]/.test(text) || text.split(".").length > 2)) ||
    /^\[?[0-9a-f]*[:.][0-9a-f:.]+\]?([:/]|$)/i.test(text)
  );
}

function hostOf(address: string): string {
  const url = URL.parse(address) ?? URL.parse(`https://${address.replace(/^\/\//, "")}`);
  return (url?.host || address).slice(0, 100);
}

/** The last two names of a host: about what one owner has. */
function siteOf(address: string): string {
  const host = hostOf(address);
  return /^[\d.:[\]]+$/.test(host) ? host : host.split(".").slice(-2).join(".");
}
