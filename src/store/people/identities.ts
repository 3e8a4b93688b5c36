import type { Query } from "../../protocol/agents/tools.ts";
import { type User, userColumns } from "./users.ts";

/** Who somebody is at an identity provider: `subject` never changes there, names and addresses do. */
export type Identity = { readonly issuer: string; readonly subject: string };

export async function findByIdentity(query: Query, { issuer, subject }: Identity): Promise<User | undefined> {
  const [user] = await query<User>(
    `select ${userColumns} from identities i join users on users.id = i.user_id where i.issuer = $1 and i.subject = $2`,
    [issuer, subject],
  );
  return user;
}

export async function addIdentity(query: Query, { issuer, subject }: Identity, userId: string): Promise<void> {
  await query("insert into identities (issuer, subject, user_id) values ($1, $2, $3)", [issuer, subject, userId]);
}
