import { jsonText } from "../../protocol/base/json-text.ts";
import type { Preferences } from "../../protocol/people/preferences.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Of a person; null: as the server has it. */
export type PreferencesChange = { readonly [Key in keyof Preferences]: Preferences[Key] | null };

export type PreferencesOf = {
  read(userId: string): Promise<Preferences>;
  /** What is absent stays. */
  change(userId: string, change: PreferencesChange): Promise<Preferences>;
};

export function createPreferences(query: Query): PreferencesOf {
  return {
    async read(userId) {
      const [row] = await query<{ preferences: Preferences }>("select preferences from users where id = $1", [userId]);
      return row?.preferences ?? {};
    },
    async change(userId, change) {
      const [row] = await query<{ preferences: Preferences }>(
        "update users set preferences = jsonb_strip_nulls(preferences || $2::jsonb) where id = $1 returning preferences",
        [userId, jsonText(change)],
      );
      return row?.preferences ?? {};
    },
  };
}
