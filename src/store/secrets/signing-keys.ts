import { randomBytes } from "node:crypto";
import type { Query } from "../../protocol/agents/tools.ts";
import { seal, unseal } from "./seal.ts";

/** A secret of 32 bytes that tokens are signed with, and its name in their headers. */
export type SigningKey = { readonly id: string; readonly bytes: Uint8Array; readonly createdAt: Date };

const about = (id: string) => `signing key ${id}`;

/** Newest first. Those sealed with another secret are left out. */
export async function listSigningKeys(query: Query, secret: string): Promise<readonly SigningKey[]> {
  const rows = await query<{ id: string; sealed: string; createdAt: Date }>(
    `select id, sealed, created_at as "createdAt" from signing_keys order by created_at desc, id`,
  );
  return rows.flatMap(({ id, sealed, createdAt }) => {
    const text = unseal(secret, sealed, about(id));
    return text === undefined ? [] : [{ id, bytes: Buffer.from(text, "base64url"), createdAt }];
  });
}

/** Two nodes may add one at the same time: both count. */
export async function addSigningKey(query: Query, secret: string): Promise<void> {
  const id = randomBytes(9).toString("base64url");
  await query("insert into signing_keys (id, sealed) values ($1, $2)", [
    id,
    seal(secret, randomBytes(32).toString("base64url"), about(id)),
  ]);
}

/** Keys that are so old that no token of theirs is left. */
export async function removeSigningKeys(
  query: Query,
  { olderThanMs }: { readonly olderThanMs: number },
): Promise<void> {
  await query("delete from signing_keys where created_at < now() - $1 * interval '1 millisecond'", [olderThanMs]);
}
