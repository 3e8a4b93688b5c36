import { newId } from "../protocol/ids.ts";
import { jsonText } from "../protocol/json-text.ts";
import type { DefinitionKind } from "../protocol/definitions.ts";
import type { Query } from "../protocol/tools.ts";
import { seal, unseal } from "./sealed.ts";

/** `default`: which agent or model is taken where none is named; its id says of which of the two. */
export type StoredKind = DefinitionKind | "default";
export type DefinitionKey = { readonly kind: StoredKind; readonly id: string };

export type StoredDefinition = DefinitionKey & {
  /** Another one after each change, also of what was deleted and made again. */
  readonly revision: string;
  /** Undefined: what was sealed can't be opened. */
  readonly body: unknown;
  readonly createdBy: string | null;
  readonly changedBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type DefinitionStore = ReturnType<typeof createDefinitionStore>;

/** On which channel each change is told. */
export const definitionsChannel = "colloquy_definitions";

const mostOfAKind = 1000;
/** These hold keys and passwords, in places that only their schema knows: nothing of them is kept readable. */
const sealedKinds: readonly StoredKind[] = ["model", "mcp-server"];

type Row = Omit<StoredDefinition, "body"> & { readonly body: unknown; readonly sealed: string | null };

/** What admins have defined, in the order in which it was made. */
export function createDefinitionStore(query: Query, secret: string) {
  const about = ({ kind, id }: DefinitionKey) => `definition ${kind} ${id}`;
  const written = (key: DefinitionKey, body: unknown): readonly [body: string | null, sealed: string | null] => {
    const text = jsonText(body);
    return sealedKinds.includes(key.kind) ? [null, seal(secret, text, about(key))] : [text, null];
  };

  return {
    async list(): Promise<readonly StoredDefinition[]> {
      const rows = await query<Row>(
        `select d.kind, d.id, d.revision, d.body, d.sealed, c.name as "createdBy", u.name as "changedBy",
           d.created_at as "createdAt", d.updated_at as "updatedAt"
         from definitions d left join users c on c.id = d.created_by left join users u on u.id = d.changed_by
         order by d.created_at, d.kind, d.id`,
      );
      return rows.map(({ sealed, body, ...row }) => {
        const text = sealed === null ? undefined : unseal(secret, sealed, about(row));
        return {
          ...row,
          body: sealed === null ? body : text === undefined ? undefined : (JSON.parse(text) as unknown),
        };
      });
    },

    /** Not where there is one of this id, or are too many of the kind. */
    async insert(key: DefinitionKey, body: unknown, userId: string): Promise<"done" | "exists" | "too many"> {
      const rows = await query(
        `insert into definitions (kind, id, revision, body, sealed, created_by, changed_by)
         select $1, $2, $3, $4::jsonb, $5, $6, $6
         where (select count(*) from definitions where kind = $1) < ${mostOfAKind} on conflict do nothing returning 1`,
        [key.kind, key.id, newId(), ...written(key, body), userId],
      );
      if (rows.length > 0) return "done";
      const same = await query("select 1 from definitions where kind = $1 and id = $2", [key.kind, key.id]);
      return same.length > 0 ? "exists" : "too many";
    },

    /** False: it is gone, or not at this revision any more. */
    async change(key: DefinitionKey & { readonly revision: string }, body: unknown, userId: string): Promise<boolean> {
      const rows = await query(
        `update definitions set revision = $4, body = $5::jsonb, sealed = $6, changed_by = $7, updated_at = now()
         where kind = $1 and id = $2 and revision = $3 returning 1`,
        [key.kind, key.id, key.revision, newId(), ...written(key, body), userId],
      );
      return rows.length > 0;
    },

    /** False: it is gone, or not at this revision any more. */
    async remove({ kind, id, revision }: DefinitionKey & { readonly revision?: string | undefined }): Promise<boolean> {
      const rows = await query(
        "delete from definitions where kind = $1 and id = $2 and ($3::uuid is null or revision = $3) returning 1",
        [kind, id, revision ?? null],
      );
      return rows.length > 0;
    },

    /** The same text as long as nothing has changed. */
    async stamp(): Promise<string> {
      const [row] = await query<{ stamp: string | null }>(
        "select string_agg(revision::text, ' ' order by kind, id) as stamp from definitions",
      );
      return row?.stamp ?? "";
    },
  };
}
