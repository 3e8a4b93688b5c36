import { z } from "zod";
import { idSchema, type Shape, timeSchema } from "../base/shapes.ts";

export const roleSchema = z.enum(["admin", "user"]);

/** Of a login: whose it is. */
export const ownUserSchema = z.object({ id: idSchema, username: z.string(), role: roleSchema });

/** Who asks, and what they may do. */
export const meSchema = ownUserSchema.extend({
  permissions: z.array(z.string()),
  groups: z.array(z.string()),
  via: z.enum(["local", "api-key", "session", "system"]),
  asksOnly: z.boolean().describe("Local mode: not known to be the owner's, so it may ask and nothing else"),
});
export type MeView = Shape<typeof meSchema>;

/** An account, for admins. */
export const userSchema = z.object({ id: z.string(), name: z.string(), role: roleSchema, disabled: z.boolean() });
export type UserView = Shape<typeof userSchema>;

/** Of the key itself only a hash is kept. */
export const keySchema = z.object({
  id: idSchema,
  label: z.string(),
  createdAt: timeSchema,
  lastUsedAt: timeSchema.nullable(),
  revokedAt: timeSchema.nullable(),
  expiresAt: timeSchema.nullable(),
  scopes: z.array(z.string()).nullable().describe("What it may; null: all that the account may, until `unscopedUntil`"),
  unscopedUntil: timeSchema
    .nullable()
    .describe("Of a key from before keys had scopes: until when it counts, unless it is said what it may"),
});
export type KeyView = Shape<typeof keySchema>;

/** `text` is the key, told this once. */
export const madeKeySchema = z.object({ key: keySchema, text: z.string() });
export type MadeKey = Shape<typeof madeKeySchema>;

/** An account with its first key, told this once. */
export const madeUserSchema = z.object({
  user: userSchema,
  key: z.string(),
  scopes: z.array(z.string()).describe("What the key may"),
  expiresAt: timeSchema.nullable().describe("When the key ends"),
});
export type MadeUser = Shape<typeof madeUserSchema>;

/** Where somebody is logged in. */
export const loginSchema = z.object({
  id: idSchema,
  label: z.string().describe("What the browser or program calls itself"),
  current: z.boolean(),
  createdAt: timeSchema,
  lastUsedAt: timeSchema,
  expiresAt: timeSchema,
});
export type LoginView = Shape<typeof loginSchema>;

/** What lets one browser in as the owner's, once. */
export const openCodeSchema = z.object({
  code: z.string().describe("For a page's fragment: /#open=<code>"),
  expiresAt: timeSchema,
});
export type OpenCode = Shape<typeof openCodeSchema>;

/** A browser's key. */
export const browserKeySchema = z.object({
  token: z.string().describe("Send it as `Authorization: Bearer …`"),
  expiresAt: timeSchema,
});
export type BrowserKey = Shape<typeof browserKeySchema>;

const link = {
  url: z.string().describe("For the person alone: it works once"),
  token: z.string(),
};

/** A link with which a person sets a new password. */
export const resetSchema = z.object({ ...link, expiresAt: timeSchema });
export type ResetLink = Shape<typeof resetSchema>;

/** That somebody may make an account. */
export const inviteSchema = z.object({
  id: idSchema,
  role: roleSchema,
  groups: z.array(z.string()),
  createdAt: timeSchema,
  expiresAt: timeSchema,
});
export type InviteView = Shape<typeof inviteSchema>;

export const madeInviteSchema = inviteSchema.extend(link);
export type MadeInvite = Shape<typeof madeInviteSchema>;

/** A name that stands for permissions, and how many have them by it. */
export const groupSchema = z.object({ name: z.string(), permissions: z.array(z.string()), members: z.int() });
export type GroupView = Shape<typeof groupSchema>;

export const memberSchema = z.object({ id: idSchema, name: z.string() });
export type MemberView = Shape<typeof memberSchema>;

/** What is done to erase a person, in this order; each may be done again. */
export const erasureSteps = [
  "runs",
  "schedules",
  "threads",
  "files",
  "uploads",
  "collections",
  "sign-ins",
  "items",
  "account",
  "done",
] as const;
export type ErasureStep = (typeof erasureSteps)[number];

/** A person that goes, or went. No name: that somebody was erased is kept, who it was is not. */
export const erasureSchema = z.object({
  id: idSchema,
  userId: idSchema.describe("ID of the erased account"),
  askedBy: idSchema.nullable(),
  begunAt: timeSchema,
  step: z.enum(erasureSteps),
  problem: z.string().nullable().describe("What keeps it from going on; it is tried again"),
  doneAt: z.string().nullable(),
});
export type ErasureView = Shape<typeof erasureSchema>;
