import { z } from "zod";
import type { KeyView } from "../../protocol/people/accounts.ts";
import { permissionPattern } from "../../protocol/base/callers.ts";
import { isWord, wordOf } from "../../protocol/base/scopes.ts";
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
    z
      .string()
      .regex(permissionPattern, "such as agents:coder, threads:read or tools:*")
      .transform(wordOf)
      .refine(isWord, "names nothing: say it as agents:coder, tools:*, threads:read, knowledge:* or admin:users"),
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

export const addKeyBody = z.strictObject({
  label: labelSchema,
  scopes: scopesSchema,
  expiresInDays: z.number().positive().max(3660).optional(),
});

/** What is asked for, as the store takes it. */
export function newKeyOf({ label, scopes, expiresInDays }: z.infer<typeof addKeyBody>) {
  const expiresAt = expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * 86_400_000);
  return { label, scopes, expiresAt };
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
