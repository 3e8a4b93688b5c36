import { z } from "zod";
import type { KeyView } from "../../protocol/people/accounts.ts";
import { permissionPattern } from "../../protocol/base/callers.ts";
import type { ApiKey } from "../../store/people/api-keys.ts";

export const nameSchema = z
  .string()
  .max(256)
  .transform((text) => text.normalize("NFC"))
  .refine((text) => /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u.test(text), "letters, digits and . _ @ -, at most 64");
export const permissionsSchema = z
  .array(z.string().regex(permissionPattern, "such as agent:coder, model:gpt-*, tool:* or collection:Handbook"))
  .max(200);

export const addKeyBody = z.strictObject({
  label: z.string().min(1).max(100),
  scopes: permissionsSchema
    .min(1)
    .optional()
    .describe(
      "Permissions or globs, such as `model:*`; what the account may not, the key may not. `admin`: admin's routes too",
    ),
  expiresInDays: z.number().positive().max(3660).optional(),
});

/** What is asked for, as the store takes it. */
export function newKeyOf({ label, scopes, expiresInDays }: z.infer<typeof addKeyBody>) {
  const expiresAt = expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * 86_400_000);
  return { label, scopes, expiresAt };
}

export function keyView({ id, label, scopes, ...times }: ApiKey): KeyView {
  const { createdAt, lastUsedAt, revokedAt, expiresAt } = times;
  return {
    id,
    label,
    scopes,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}
