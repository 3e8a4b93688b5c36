import { Conflict, InvalidInput, NotFound } from "../protocol/base/errors.ts";
import { isId, newId } from "../protocol/base/ids.ts";
import { jsonText, plainText } from "../protocol/base/json-text.ts";
import type { FolderSettings } from "../protocol/threads/folders.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Database } from "./driver/database.ts";

/** A person's folder, in which conversations and rooms are kept. */
export type FolderRecord = {
  readonly id: string;
  readonly name: string;
  readonly settings: FolderSettings;
  readonly createdAt: Date;
};

export type FolderChange = {
  readonly name?: string | undefined;
  /** Its place among the person's folders, from 0 on; one behind the last is the last. */
  readonly position?: number | undefined;
  /** Whole: what is not in it is gone. */
  readonly settings?: FolderSettings | undefined;
};

/** In the person's order. */
export type Folders = {
  list(userId: string): Promise<readonly FolderRecord[]>;
  /** At the end. The same `id` sent again answers the first. Throws Conflict `too_many_folders`. */
  create(
    userId: string,
    folder: { readonly id?: string | undefined; readonly name: string; readonly settings?: FolderSettings | undefined },
  ): Promise<{ readonly id: string; readonly folders: readonly FolderRecord[] }>;
  /** All of them, since the places of others change with one's. Throws NotFound. */
  change(userId: string, id: string, change: FolderChange): Promise<readonly FolderRecord[]>;
  /** What is in it stays. Throws NotFound. */
  remove(userId: string, id: string): Promise<void>;
};

const maxFolders = 500;
const columns = `id, name, settings, created_at as "createdAt"`;

export function createFolders({ query, transaction }: Pick<Database, "query" | "transaction">): Folders {
  const list = (asked: Query, userId: string) =>
    asked<FolderRecord>(`select ${columns} from folders where user_id = $1 order by position, id`, [userId]);
  return {
    list: (userId) => list(query, userId),
    create: (userId, { id = newId(), name, settings = {} }) =>
      transaction(async (within) => {
        const own = await locked(within, userId);
        if (own.includes(id)) return { id, folders: await list(within, userId) };
        if (own.length >= maxFolders)
          throw new Conflict(`You already have ${maxFolders} folders.`, { code: "too_many_folders" });
        const made = await within(
          `insert into folders (id, user_id, name, settings, position)
           select $1, $2, $3, $4::jsonb, coalesce(max(position) + 1, 0) from folders where user_id = $2
           on conflict do nothing returning 1`,
          [id, userId, plainText(name), jsonText(settings)],
        );
        // A concurrent request of one's own made it, or it is somebody else's.
        if (made.length === 0 && !(await locked(within, userId)).includes(id))
          throw new InvalidInput("id must be a new UUID", { param: "id" });
        return { id, folders: await list(within, userId) };
      }),
    change: (userId, id, { name, position, settings }) =>
      transaction(async (within) => {
        const own = await locked(within, userId);
        if (!own.includes(id)) throw noFolder(id);
        if (name !== undefined || settings !== undefined)
          await within(
            "update folders set name = coalesce($3, name), settings = coalesce($4::jsonb, settings) where id = $1 and user_id = $2",
            [
              id,
              userId,
              name === undefined ? null : plainText(name),
              settings === undefined ? null : jsonText(settings),
            ],
          );
        if (position !== undefined) {
          const others = (await list(within, userId)).map((folder) => folder.id).filter((other) => other !== id);
          others.splice(position, 0, id);
          await within(
            `update folders f set position = x.at - 1 from unnest($1::uuid[]) with ordinality as x (id, at)
             where f.id = x.id and f.user_id = $2 and f.position <> x.at - 1`,
            [others, userId],
          );
        }
        return list(within, userId);
      }),
    async remove(userId, id) {
      const gone = isId(id)
        ? await query("delete from folders where id = $1 and user_id = $2 returning 1", [id, userId])
        : [];
      if (gone.length === 0) throw noFolder(id);
    },
  };
}

/** Of two that change their order at once the second begins with what the first made of it. */
async function locked(query: Query, userId: string): Promise<readonly string[]> {
  // In an order of its own: by their places two would wait for each other.
  const rows = await query<{ id: string }>("select id from folders where user_id = $1 order by id for update", [
    userId,
  ]);
  return rows.map(({ id }) => id);
}

export function noFolder(id: string): NotFound {
  return new NotFound(`You have no folder ${id}.`, { code: "folder_not_found", param: "folderId" });
}
