import type { Migration } from "../migration.ts";

/** A person's pages are told when what is set for a conversation has changed, as when it is renamed. */
export const settingsTell: Migration = {
  name: "0039-settings-tell",
  up: `
    create trigger threads_tell_of_settings after update of settings on threads
      for each row when (not new.hidden and new.parent_run is null and old.settings is distinct from new.settings)
      execute function lists_changed('threads');
  `,
};
