import type { Role } from "../../protocol/base/callers.ts";
import { InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { readSignedId, signedId } from "../secrets/signed-ids.ts";

/** Purpose of a one-time link: create the first admin, create an account, set a new password, or log a browser in. */
export type LinkPurpose = "setup" | "invite" | "reset" | "open";

export type AccountLink = {
  readonly id: string;
  readonly purpose: LinkPurpose;
  /** Whose password it sets. */
  readonly userId: string | null;
  /** Role of an invited account. */
  readonly role: Role;
  readonly groups: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

const columns = `id, purpose, user_id as "userId", role, groups, created_at as "createdAt", expires_at as "expiresAt"`;

export type NewLink = {
  readonly purpose: "invite" | "reset" | "open";
  readonly lifeMs: number;
  readonly userId?: string;
  readonly role?: Role;
  readonly groups?: readonly string[];
};

/** A new reset of the same user takes the place of the one before. */
export async function createLink(
  query: Query,
  { purpose, lifeMs, userId, role = "user", groups = [] }: NewLink,
): Promise<AccountLink> {
  const [link] = await query<AccountLink>(
    `with before as (delete from account_links where purpose = 'reset' and user_id = $3)
     insert into account_links (id, purpose, user_id, role, groups, expires_at)
     values ($1, $2, $3, $4, $5::jsonb, now() + $6 * interval '1 millisecond') returning ${columns}`,
    [newId(), purpose, userId ?? null, role, JSON.stringify(groups), lifeMs],
  );
  return link!;
}

/** The one link that makes the first admin: the same until it is used or over, on all nodes. In a transaction. */
export async function ensureSetupLink(query: Query, lifeMs: number): Promise<AccountLink> {
  await query("delete from account_links where purpose = 'setup' and used_at is null and expires_at < now()");
  await query(
    `insert into account_links (id, purpose, role, expires_at)
     values ($1, 'setup', 'admin', now() + $2 * interval '1 millisecond') on conflict do nothing`,
    [newId(), lifeMs],
  );
  const [link] = await query<AccountLink>(
    `select ${columns} from account_links where purpose = 'setup' and used_at is null`,
  );
  return link!;
}

/** In a transaction: if that fails, the link is as before. Throws InvalidInput `link_over`. */
export async function useLink(query: Query, id: string, purpose: LinkPurpose): Promise<AccountLink> {
  const [link] = await query<AccountLink>(
    `update account_links set used_at = now()
     where id = $1 and purpose = $2 and used_at is null and expires_at > now() returning ${columns}`,
    [id, purpose],
  );
  if (!link) throw linkOver();
  return link;
}

/** Invitations that nobody has used yet, newest first. */
export async function listInvites(query: Query): Promise<readonly AccountLink[]> {
  return query<AccountLink>(
    `select ${columns} from account_links
     where purpose = 'invite' and used_at is null and expires_at > now() order by id desc limit 500`,
  );
}

/** Links of before a new password would set another one. */
export async function removeResets(query: Query, userId: string): Promise<void> {
  await query("delete from account_links where purpose = 'reset' and user_id = $1 and used_at is null", [userId]);
}

/** Throws NotFound. */
export async function removeInvite(query: Query, id: string): Promise<void> {
  const rows = await query("delete from account_links where id = $1 and purpose = 'invite' returning id", [id]);
  if (rows.length === 0) throw new NotFound(`Invitation ${id} not found.`, { code: "invite_not_found" });
}

export async function removeOldLinks(query: Query): Promise<void> {
  await query("delete from account_links where expires_at < now() - interval '1 day'");
}

/** The secret part of a link: made anew from its row whenever it is shown, so that no row holds it. */
export function linkToken(secret: string, { id, purpose }: Pick<AccountLink, "id" | "purpose">): string {
  return signedId(secret, `account link ${purpose}`, id);
}

/** The id of the link. Throws InvalidInput `link_over` for what we have not made. */
export function readLinkToken(secret: string, token: string, purpose: LinkPurpose): string {
  const id = readSignedId(secret, `account link ${purpose}`, token);
  if (id === undefined) throw linkOver();
  return id;
}

function linkOver(): InvalidInput {
  return new InvalidInput("This link was used, has expired, or is not from this server. Ask for a new one.", {
    code: "link_over",
  });
}
