import { createHash, randomBytes } from "node:crypto";
import { NotFound } from "../protocol/base/errors.ts";
import { newId } from "../protocol/base/ids.ts";
import type { Query } from "../protocol/agents/tools.ts";

export type Share = {
  readonly id: string;
  readonly threadId: string;
  /** The item up to which the branch is shown: what is said later is not. */
  readonly leaf: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
};

/** Read-only links to threads. Of a link's token only the hash is kept. */
export type Shares = {
  /** `token` is told this once. The thread must be the user's. */
  create(share: {
    readonly userId: string;
    readonly threadId: string;
    readonly leaf: string;
    readonly days?: number;
  }): Promise<{ readonly share: Share; readonly token: string }>;
  list(userId: string, threadId: string): Promise<readonly Share[]>;
  /** Those to any thread that have not expired, the newest first, with the threads' titles; at most 500. */
  listOwn(userId: string): Promise<readonly (Share & { readonly title: string })[]>;
  /** Throws NotFound. */
  remove(userId: string, id: string): Promise<void>;
  /** Finds what a link shows, and its owner. Undefined: unknown, withdrawn or expired. */
  find(token: string): Promise<(Share & { readonly userId: string; readonly title: string }) | undefined>;
};

const columns = `id, thread_id as "threadId", leaf, created_at as "createdAt", expires_at as "expiresAt"`;

export function createShares(query: Query): Shares {
  return {
    async create({ userId, threadId, leaf, days }) {
      const token = randomBytes(24).toString("base64url");
      const [share] = await query<Share>(
        `insert into shares (id, thread_id, user_id, token_hash, leaf, expires_at)
         values ($1, $2, $3, $4, $5, now() + $6::double precision * interval '1 day') returning ${columns}`,
        [newId(), threadId, userId, hashOf(token), leaf, days ?? null],
      );
      return { share: share!, token };
    },
    list(userId, threadId) {
      return query<Share>(`select ${columns} from shares where user_id = $1 and thread_id = $2 order by id`, [
        userId,
        threadId,
      ]);
    },
    listOwn(userId) {
      return query<Share & { title: string }>(
        `select s.id, s.thread_id as "threadId", s.leaf, s.created_at as "createdAt", s.expires_at as "expiresAt", t.title
         from shares s join threads t on t.id = s.thread_id
         where s.user_id = $1 and (s.expires_at is null or s.expires_at > now()) order by s.id desc limit 500`,
        [userId],
      );
    },
    async remove(userId, id) {
      const rows = await query("delete from shares where user_id = $1 and id = $2 returning 1", [userId, id]);
      if (rows.length === 0) throw new NotFound(`Share ${id} not found.`, { code: "share_not_found" });
    },
    async find(token) {
      const [row] = await query<Share & { userId: string; title: string }>(
        `select s.id, s.thread_id as "threadId", s.leaf, s.created_at as "createdAt", s.expires_at as "expiresAt",
           s.user_id as "userId", t.title
         from shares s join threads t on t.id = s.thread_id join users u on u.id = s.user_id
         where s.token_hash = $1 and (s.expires_at is null or s.expires_at > now()) and not u.disabled`,
        [hashOf(token)],
      );
      return row;
    },
  };
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
