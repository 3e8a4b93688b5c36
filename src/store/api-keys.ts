import { createHash, randomInt } from "node:crypto";
import { NotFound } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import type { Query } from "../protocol/tools.ts";
import type { User } from "./users.ts";

export type ApiKey = {
  readonly id: string;
  readonly userId: string;
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
};

export type KeyAndUser = { readonly key: ApiKey; readonly user: User };

const columns = `id, user_id as "userId", label, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"`;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `text` is the key itself, `ck_` and 40 characters: shown this once, since only its hash is kept. */
export async function createApiKey(
  query: Query,
  { userId, label }: { readonly userId: string; readonly label: string },
): Promise<{ readonly key: ApiKey; readonly text: string }> {
  const text = `ck_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
  const [key] = await query<ApiKey>(
    `insert into api_keys (id, user_id, label, hash) values ($1, $2, $3, $4) returning ${columns}`,
    [newId(), userId, label, hashOf(text)],
  );
  return { key: key!, text };
}

export async function listApiKeys(query: Query, userId: string): Promise<readonly ApiKey[]> {
  return query<ApiKey>(`select ${columns} from api_keys where user_id = $1 order by id`, [userId]);
}

/** Throws NotFound. A finder may honour the key for as long as it remembers it. */
export async function revokeApiKey(query: Query, { id }: { readonly id: string }): Promise<void> {
  const rows = await query("update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning id", [
    id,
  ]);
  if (rows.length === 0) throw new NotFound(`There is no API key ${id}.`, { code: "key_not_found" });
}

export type KeyFinder = {
  /** Whose key this is; undefined for an unknown or revoked one. A disabled user is told as such. */
  findByKey(text: string): Promise<KeyAndUser | undefined>;
  /** After a revocation or a change of a user: what is remembered is asked again. */
  forget(): void;
};

/** Remembers what it found for 30 seconds, so that a request costs no SQL. */
export function createKeyFinder(
  query: Query,
  { rememberMs = 30_000, rememberMost = 1000 }: { readonly rememberMs?: number; readonly rememberMost?: number } = {},
): KeyFinder {
  const remembered = new Map<string, { readonly until: number; readonly found: Promise<KeyAndUser | undefined> }>();

  function remember(hash: string): Promise<KeyAndUser | undefined> {
    const found = find(query, hash);
    // Unknown keys are not kept: whoever guesses could fill the memory with them.
    const forget = (): void => {
      if (remembered.get(hash)?.found === found) remembered.delete(hash);
    };
    found.then((result) => result ?? forget(), forget);
    remembered.delete(hash);
    remembered.set(hash, { until: performance.now() + rememberMs, found });
    if (remembered.size > rememberMost) remembered.delete(remembered.keys().next().value!);
    return found;
  }

  return {
    findByKey(text) {
      const hash = hashOf(text);
      const entry = remembered.get(hash);
      return entry && entry.until > performance.now() ? entry.found : remember(hash);
    },
    forget: () => remembered.clear(),
  };
}

/** One statement finds the key and, at most once a minute, notes that it was used. */
async function find(query: Query, hash: string): Promise<KeyAndUser | undefined> {
  const [row] = await query<ApiKey & Omit<User, "id" | "createdAt"> & { userCreatedAt: Date }>(
    `with used as (
       update api_keys set last_used_at = now()
       where hash = $1 and revoked_at is null and (last_used_at is null or last_used_at < now() - interval '1 minute')
     )
     select k.id, k.user_id as "userId", k.label, k.created_at as "createdAt", k.last_used_at as "lastUsedAt",
            k.revoked_at as "revokedAt", u.name, u.role, u.disabled, u.created_at as "userCreatedAt"
     from api_keys k join users u on u.id = k.user_id
     where k.hash = $1 and k.revoked_at is null`,
    [hash],
  );
  if (!row) return undefined;
  const { name, role, disabled, userCreatedAt, ...key } = row;
  return { key, user: { id: key.userId, name, role, disabled, createdAt: userCreatedAt } };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
