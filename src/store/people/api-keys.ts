import { createHash, randomInt } from "node:crypto";
import { NotFound } from "../../protocol/base/errors.ts";
import type { Role } from "../../protocol/base/callers.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { createLookupCache, type MemoryOptions } from "./lookup-cache.ts";
import { type User, userColumns } from "./users.ts";

export type ApiKey = {
  readonly id: string;
  readonly userId: string;
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Its scopes; null: everything that the account may do. */
  readonly scopes: readonly string[] | null;
  readonly expiresAt: Date | null;
  /** For a key from before scopes existed: until when it keeps its full access; null: its scopes apply. */
  readonly unscopedUntil: Date | null;
};

export type KeyAndUser = {
  readonly key: Pick<ApiKey, "id" | "scopes" | "expiresAt" | "unscopedUntil">;
  readonly user: User;
};

const columns = `k.id, k.user_id as "userId", k.label, k.created_at as "createdAt", k.last_used_at as "lastUsedAt",
  k.revoked_at as "revokedAt", k.scopes, k.expires_at as "expiresAt", k.unscoped_until as "unscopedUntil"`;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export type KeyChange = {
  readonly id: string;
  readonly userId: string;
  readonly label?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
};

export type NewKey = {
  readonly userId: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | undefined;
};

/** `text` is the key itself, `ck_` and 40 characters: shown this once, since only its hash is kept. */
export async function createApiKey(
  query: Query,
  { userId, label, scopes, expiresAt }: NewKey,
): Promise<{ readonly key: ApiKey; readonly text: string }> {
  const text = `ck_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
  const [key] = await query<ApiKey>(
    `insert into api_keys as k (id, user_id, label, hash, scopes, expires_at, unscoped_until)
     values ($1, $2, $3, $4, $5::jsonb, $6, null) returning ${columns}`,
    [newId(), userId, label, hashOf(text), JSON.stringify(scopes), expiresAt ?? null],
  );
  return { key: key!, text };
}

export async function listApiKeys(query: Query, userId: string): Promise<readonly ApiKey[]> {
  return query<ApiKey>(`select ${columns} from api_keys k where k.user_id = $1 order by k.id`, [userId]);
}

/** Throws NotFound; with `userId` also for a key of somebody else. A finder may honour the key for as long as it remembers it. */
export async function revokeApiKey(
  query: Query,
  { id, userId }: { readonly id: string; readonly userId?: string },
): Promise<void> {
  const rows = await query(
    `update api_keys set revoked_at = coalesce(revoked_at, now())
     where id = $1 and user_id = coalesce($2::uuid, user_id) returning id`,
    [id, userId ?? null],
  );
  if (rows.length === 0) throw new NotFound(`API key ${id} not found.`, { code: "key_not_found" });
}

/** Role of a key's owner. Throws NotFound. */
export async function roleOfKey(query: Query, id: string): Promise<Role> {
  const [row] = isId(id)
    ? await query<{ role: Role }>("select role from users where id = (select user_id from api_keys where id = $1)", [
        id,
      ])
    : [];
  if (!row) throw new NotFound(`API key ${id} not found.`, { code: "key_not_found" });
  return row.role;
}

/** Names what a key of the user's may, or calls it something else. Throws NotFound. */
export async function changeApiKey(query: Query, { id, userId, label, scopes }: KeyChange): Promise<ApiKey> {
  const [key] = await query<ApiKey>(
    `update api_keys as k set label = coalesce($3, label), scopes = coalesce($4::jsonb, scopes),
       unscoped_until = case when $4::jsonb is null then unscoped_until end
     where id = $1 and user_id = $2 and revoked_at is null returning ${columns}`,
    [id, userId, label ?? null, scopes ? JSON.stringify(scopes) : null],
  );
  if (!key) throw new NotFound(`API key ${id} not found, or no longer valid.`, { code: "key_not_found" });
  return key;
}

/** The keys that still count and may what they may only for a while, the first to end first. */
export async function listUnscopedKeys(query: Query): Promise<readonly (ApiKey & { readonly user: string })[]> {
  return query<ApiKey & { user: string }>(
    `select ${columns}, users.name as user from api_keys k join users on users.id = k.user_id
     where k.unscoped_until is not null and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
       and not users.disabled order by k.unscoped_until, k.id limit 200`,
    [],
  );
}

/** How many keys of a user may still be used. */
export async function countLiveKeys(query: Query, userId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*) from api_keys where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    [userId],
  );
  return row!.count;
}

export type KeyFinder = {
  /** Whose key this is; undefined for one that is unknown, revoked or expired. A disabled user is told as such. */
  findByKey(text: string): Promise<KeyAndUser | undefined>;
  /** After a revocation or a change of a user: what is remembered is asked again. */
  forget(): void;
};

/** Remembers what it found for 30 seconds, so that a request costs no SQL. */
export function createKeyFinder(query: Query, options: MemoryOptions = {}): KeyFinder {
  const memory = createLookupCache((hash) => find(query, hash), options);
  return {
    async findByKey(text) {
      const found = await memory.find(hashOf(text));
      const until = found?.key.expiresAt;
      return until && until <= new Date() ? undefined : found;
    },
    forget: memory.forget,
  };
}

/** One statement finds the key and, at most once a minute, notes that it was used. */
async function find(query: Query, hash: string): Promise<KeyAndUser | undefined> {
  const [row] = await query<User & Omit<KeyAndUser["key"], "id"> & { keyId: string }>(
    `with used as (
       update api_keys set last_used_at = now()
       where hash = $1 and revoked_at is null and (last_used_at is null or last_used_at < now() - interval '1 minute')
     )
     select k.id as "keyId", k.scopes, k.expires_at as "expiresAt", k.unscoped_until as "unscopedUntil", ${userColumns}
     from api_keys k join users on users.id = k.user_id
     where k.hash = $1 and k.revoked_at is null`,
    [hash],
  );
  if (!row) return undefined;
  const { keyId, scopes, expiresAt, unscopedUntil, ...user } = row;
  return { key: { id: keyId, scopes, expiresAt, unscopedUntil }, user };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
