import { z } from "zod";
import type { ProjectEntry, SprintEntry, TaigaToken } from "../../protocol/threads/taiga.ts";
import type { TaigaApi } from "./client.ts";
import { TaigaFailure } from "./failure.ts";
import { readProject, type TaigaProject } from "./project.ts";
import { createSession, type TaigaLogin, type TaigaSession, tokenIn } from "./session.ts";
import { milestoneSchema, parsed } from "./shapes.ts";

/** Where people sign in and choose what to work on; nothing of it is kept. Each throws TaigaFailure. */
export type TaigaSessions = {
  /** An operator's login stands for whoever brings none; for administrators. */
  readonly hasLogin: boolean;
  signIn(username: string, password: string): Promise<TaigaToken>;
  /** Those that somebody works in, by name. */
  projects(token: string | undefined, search: ChoiceSearch): Promise<ChoiceList<ProjectEntry>>;
  /** The newest first. */
  sprints(
    token: string | undefined,
    place: string,
    search: ChoiceSearch,
  ): Promise<ChoiceList<SprintEntry> & { readonly project: TaigaProject }>;
};

export type ChoiceSearch = { readonly text?: string | undefined; readonly signal: AbortSignal };
/** `more`: there are others; more words of their name find them. */
export type ChoiceList<Entry> = { readonly data: readonly Entry[]; readonly more: boolean };

const maxListed = 100;
const meSchema = z.looseObject({ id: z.int() });
const projectSchema = z.looseObject({ id: z.int(), slug: z.string(), name: z.string() });

export function createProjectChoices({
  client,
  login,
}: {
  readonly client: TaigaApi;
  readonly login?: TaigaLogin | undefined;
}): TaigaSessions {
  const operator = login && createSession({ login, post: client.post });
  const sessionOf = (token: string | undefined): TaigaSession => {
    const session = token === undefined ? operator : createSession({ login: { token }, post: client.post });
    if (!session) throw new TaigaFailure(401, "No Taiga login is configured.");
    return session;
  };

  /** Up to as many as are shown; whoever misses one searches. */
  async function list<Entry extends { readonly name: string }>(
    session: TaigaSession,
    { path, query }: Pick<Parameters<TaigaApi["pages"]>[1], "path" | "query">,
    { text = "", signal, entryOf }: ChoiceSearch & { readonly entryOf: (row: unknown) => Entry },
  ): Promise<ChoiceList<Entry>> {
    const wanted = text.trim().toLowerCase();
    const data: Entry[] = [];
    const isWhole = await client.pages(session, { path, query: query ?? {}, signal }, (rows) => {
      for (const row of rows) {
        const entry = entryOf(row);
        if (entry.name.toLowerCase().includes(wanted)) data.push(entry);
      }
      return data.length <= maxListed;
    });
    return { data: data.slice(0, maxListed), more: !isWhole || data.length > maxListed };
  }

  return {
    hasLogin: operator !== undefined,
    signIn: async (username, password) => tokenIn(await client.post("/auth", { type: "normal", username, password })),
    async projects(token, search) {
      const session = sessionOf(token);
      const me = parsed(meSchema, await client.request(session, { path: "/users/me", signal: search.signal }), "user");
      const entryOf = (row: unknown) => {
        const { id, slug, name } = parsed(projectSchema, row, "list of projects");
        return { id, slug, name };
      };
      return list(session, { path: "/projects", query: { member: me.id } }, { ...search, entryOf });
    },
    async sprints(token, place, search) {
      const session = sessionOf(token);
      const project = await readProject(client, session, { place, signal: search.signal });
      const entryOf = (row: unknown) => {
        const milestone = parsed(milestoneSchema, row, "list of milestones");
        const { id, name, closed, estimated_start: start, estimated_finish: finish } = milestone;
        return { id, name, closed, start: start ?? null, finish: finish ?? null };
      };
      const found = await list(
        session,
        { path: "/milestones", query: { project: project.id } },
        { ...search, entryOf },
      );
      return { ...found, project };
    },
  };
}
