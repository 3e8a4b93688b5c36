import { newId } from "../protocol/base/ids.ts";
import { jsonText } from "../protocol/base/json-text.ts";
import type { DefinitionKind } from "../protocol/agents/definitions.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Database } from "./driver/database.ts";
import { seal, unseal } from "./secrets/seal.ts";

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

const maxOfAKind = 1000;
/** These hold keys and passwords, in places that only their schema knows: nothing of them is kept readable. */
const sealedKinds: readonly StoredKind[] = ["model", "mcp-server"];

type StoredDefinitionRow = Omit<StoredDefinition, "body"> & { readonly body: unknown; readonly sealed: string | null };

/** Stores what admins define. A write is based on all definitions: if they changed since `stamp`, nothing is written. */
export function createDefinitionStore(database: Pick<Database, "query" | "transaction">, secret: string) {
  const about = ({ kind, id }: DefinitionKey) => `definition ${kind} ${id}`;
  const written = (key: DefinitionKey, body: unknown): readonly [body: string | null, sealed: string | null] => {
    const text = jsonText(body);
    return sealedKinds.includes(key.kind) ? [null, seal(secret, text, about(key))] : [text, null];
  };

  /** One after the other, on all nodes; whoever reads does not wait. */
  const writeAt = <Outcome>(stamp: string, write: (query: Query) => Promise<Outcome>): Promise<Outcome | "stale"> =>
    database.transaction(async (query) => ((await readStamp(query)) === stamp ? write(query) : "stale"), {
      first: "lock table definitions in share row exclusive mode",
    });

  return {
    /** In the order in which they were made. */
    async list(): Promise<readonly StoredDefinition[]> {
      const rows = await database.query<StoredDefinitionRow>(
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

    /** Returns a text that changes with every change. */
    stamp: (): Promise<string> => readStamp(database.query),

    insert: (stamp: string, key: DefinitionKey, body: unknown, userId: string) =>
      writeAt(stamp, async (query): Promise<"done" | "too many"> => {
        const rows = await query(
          `insert into definitions (kind, id, revision, body, sealed, created_by, changed_by)
           select $1, $2, $3, $4::jsonb, $5, $6, $6
           where (select count(*) from definitions where kind = $1) < ${maxOfAKind} returning 1`,
          [key.kind, key.id, newId(), ...written(key, body), userId],
        );
        return rows.length > 0 ? "done" : "too many";
      }),

    change: (stamp: string, key: DefinitionKey, body: unknown, userId: string) =>
      writeAt(stamp, async (query): Promise<"done"> => {
        await query(
          `update definitions set revision = $3, body = $4::jsonb, sealed = $5, changed_by = $6, updated_at = now()
           where kind = $1 and id = $2`,
          [key.kind, key.id, newId(), ...written(key, body), userId],
        );
        return "done";
      }),

    remove: (stamp: string, { kind, id }: DefinitionKey) =>
      writeAt(stamp, async (query): Promise<"done"> => {
        await query("delete from definitions where kind = $1 and id = $2", [kind, id]);
        return "done";
      }),
  };
}

/** Lists definitions without their contents, for callers without the secret to open them. */
export function listDefined(query: Query): Promise<readonly DefinitionKey[]> {
  return query<DefinitionKey>("select kind, id from definitions order by kind, id");
}

async function readStamp(query: Query): Promise<string> {
  const [row] = await query<{ stamp: string | null }>(
    "select md5(string_agg(revision::text, ' ' order by kind, id)) as stamp from definitions",
  );
  return row?.stamp ?? "";
}
