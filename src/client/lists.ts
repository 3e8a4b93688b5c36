import type { FolderSettings, FolderView, ListChange } from "../protocol/threads/folders.ts";
import type { Preferences } from "../protocol/people/preferences.ts";
import type { BulkAnswer, ThreadListPage } from "../protocol/threads/threads.ts";
import { followEvents, type FollowOptions } from "./events.ts";
import { ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";
import type { ThreadPage } from "./threads.ts";

/** What a person makes of conversations and rooms for themselves; what is absent stays. */
export type PlaceInput = {
  readonly archived?: boolean;
  /** null: in none. */
  readonly folderId?: string | null;
  readonly pinned?: boolean;
  /** All of it or, with false, all but the last; a number: up to this seq. */
  readonly read?: boolean | number;
};

export type FolderInput = {
  readonly name?: string;
  /** From 0 on. */
  readonly position?: number;
  readonly settings?: FolderSettings;
};

/** How a person keeps what is theirs. */
export type ListClient = {
  page(page: ThreadPage, signal?: AbortSignal): Promise<ThreadListPage>;
  /** At most 500; each is told apart. */
  changeAll(ids: readonly string[], change: PlaceInput | { readonly delete: true }): Promise<BulkAnswer["data"]>;
  folders(signal?: AbortSignal): Promise<readonly FolderView[]>;
  addFolder(folder: {
    readonly id?: string;
    readonly name: string;
    readonly settings?: FolderSettings;
  }): Promise<FolderView>;
  /** All of them, as they are then. */
  changeFolder(id: string, change: FolderInput): Promise<readonly FolderView[]>;
  removeFolder(id: string): Promise<void>;
  preferences(signal?: AbortSignal): Promise<Preferences>;
  /** null: as the server has it. */
  changePreferences(change: { readonly [Key in keyof Preferences]?: Preferences[Key] | null }): Promise<Preferences>;
  /** Gives one of each kind at the beginning, and whenever something has changed, until the signal fires. */
  follow(options: FollowOptions): AsyncGenerator<{ readonly event: ListChange }>;
};

export function createListClient(server: ServerAccess): ListClient {
  const send = <Answer>(method: "PATCH" | "POST", path: string, body: unknown) =>
    askJson<Answer>(server, path, { method, body });
  return {
    page: (page, signal) => askJson(server, "/api/threads" + queryOf(page), { signal }),
    changeAll: async (ids, change) => (await send<BulkAnswer>("POST", "/api/threads/bulk", { ids, change })).data,
    folders: (signal) => askList(server, "/api/folders", { signal }),
    addFolder: (folder) => send("POST", "/api/folders", folder),
    changeFolder: async (id, change) =>
      (await send<{ readonly data: readonly FolderView[] }>("PATCH", `/api/folders/${id}`, change)).data,
    async removeFolder(id) {
      await ask(server, `/api/folders/${id}`, { method: "DELETE" });
    },
    preferences: (signal) => askJson(server, "/api/me/preferences", { signal }),
    changePreferences: (change) => send("PATCH", "/api/me/preferences", change),
    follow: (options) => followEvents<ListChange>(server, "/api/me/events", options),
  };
}
