import type { Services } from "../http/server/services.ts";
import { createFolders } from "../store/folders.ts";
import { createListChanges } from "../store/people/list-changes.ts";
import { createPreferences } from "../store/people/preferences.ts";
import type { Store } from "./store.ts";

export type OpenLists = { readonly services: Pick<Services, "folders" | "listChanges" | "preferences"> };

/** Opens how people keep what is theirs, and what tells their pages of it. */
export function openLists({ store: { database } }: { readonly store: Pick<Store, "database"> }): OpenLists {
  return {
    services: {
      folders: createFolders(database),
      listChanges: createListChanges(database),
      preferences: createPreferences(database.query),
    },
  };
}
