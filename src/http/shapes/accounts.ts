import { z } from "zod";
import { type KeyView, roleSchema } from "../../protocol/people/accounts.ts";
import { permissionPattern } from "../../protocol/base/callers.ts";
import { wordOf, wordPattern } from "../../protocol/base/scopes.ts";
import type { ApiKey } from "../../store/people/api-keys.ts";

export const nameSchema = z
  .string()
  .max(256)
  .transform((text) => text.normalize("NFC"))
  .refine((text) => /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(text), "letters, digits and . _ @ -, at most 64");
export const permissionsSchema = z
  .array(z.string().regex(permissionPattern, "such as agent:coder, model:gpt-*, tool:* or collection:Handbook"))
  .max(200);

const scopesSchema = z
  .array(
    z.string().regex(wordPattern, "such as agents:coder, threads:read or tools:*").transform(wordOf),
    'say what the key may, such as ["agents:assistant"], or ["*"] for all that the account may',
  )
  .min(1)
  .max(200)
  .describe(
    "All that the key may: `agents:<id>`, `tools:<name>`, `models:<id>`, `threads:read`, `knowledge:*` and so on, each maybe a " +
      "glob; `*`: all. What the account may not, the key may not",
  );

const labelSchema = z.string().min(1).max(100);

export const changeKeyBody = z
  .strictObject({ label: labelSchema.optional(), scopes: scopesSchema.optional() })
  .refine((change) => Object.keys(change).length > 0, "must change something");

const daysSchema = z.number().positive().max(3660);

export const addKeyBody = z.strictObject({
  label: labelSchema,
  scopes: scopesSchema,
  expiresInDays: daysSchema.optional(),
});

export const addUserBody = z.strictObject({
  name: nameSchema,
  role: roleSchema.default("user"),
  scopes: scopesSchema.default(["*"]),
  expiresInDays: daysSchema.nullable().default(90).describe("When its first key ends; null: never"),
});

/** When a key ends that is made now; undefined: never. */
export function expiryDate(days: number | null | undefined): Date | undefined {
  return days == null ? undefined : new Date(Date.now() + days * 86_400_000);
}

export function keyView({ id, label, scopes, ...times }: ApiKey): KeyView {
  const { createdAt, lastUsedAt, revokedAt, expiresAt, unscopedUntil } = times;
  return {
    id,
    label,
    scopes,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    unscopedUntil: unscopedUntil?.toISOString() ?? null,
  };
}
