import type { Migration } from "../migration.ts";

/**
 * How a person keeps conversations and rooms: folders, pins, up to where they were read. A room is many people's, so what one of them
 * makes of it stands by person and thread, as does that they put it away; a conversation that is put away says so itself. Nobody had
 * read marks before, so all that there is by now counts as read ('read_since'). A 'temporary' conversation is in no list, and goes a day after
 * its last use.
 *
 * Triggers tell the person's pages, by 'colloquy_lists'. What the heart writes with each message fires none of them.
 */
export const personLists: Migration = {
  name: "0036-person-lists",
  up: `
    alter table users add column preferences jsonb not null default '{}';
    alter table users add column read_since timestamptz not null default now();

    alter table threads add column temporary boolean not null default false;

    create table folders (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      name text not null,
      position integer not null,
      settings jsonb not null default '{}',
      created_at timestamptz not null default now(),
      unique (user_id, id)
    );

    -- The folder of somebody else is none.
    create table thread_places (
      user_id uuid not null references users on delete cascade,
      thread_id uuid not null references threads on delete cascade,
      folder_id uuid,
      pinned_at timestamptz,
      archived_at timestamptz,
      read_seq bigint,
      primary key (user_id, thread_id),
      foreign key (user_id, folder_id) references folders (user_id, id) on delete set null (folder_id)
    );
    create index thread_places_by_thread on thread_places (thread_id);
    create index thread_places_by_folder on thread_places (user_id, folder_id, thread_id) where folder_id is not null;
    create index thread_places_pinned on thread_places (user_id, pinned_at, thread_id) where pinned_at is not null;

    create function lists_changed() returns trigger language plpgsql as $$
    declare
      whose uuid := coalesce(new.user_id, old.user_id);
    begin
      perform pg_notify('colloquy_lists', whose::text || ' ' || tg_argv[0]);
      return null;
    end $$;
    create trigger folders_tell after insert or update or delete on folders
      for each row execute function lists_changed('folders');
    create trigger thread_places_tell after insert or delete on thread_places
      for each row execute function lists_changed('threads');
    create trigger thread_places_tell_of_change after update on thread_places
      for each row when (old is distinct from new) execute function lists_changed('threads');
    create trigger threads_tell_of_new after insert on threads
      for each row when (not new.hidden and new.parent_run is null) execute function lists_changed('threads');
    create trigger threads_tell_of_change after update of title, archived_at on threads
      for each row when (not new.hidden and new.parent_run is null
        and (old.title, old.archived_at) is distinct from (new.title, new.archived_at)) execute function lists_changed('threads');
    create trigger threads_tell_of_end after delete on threads
      for each row when (not old.hidden and old.parent_run is null) execute function lists_changed('threads');

    create function preferences_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('colloquy_lists', new.id::text || ' preferences');
      return null;
    end $$;
    create trigger preferences_tell after update of preferences on users
      for each row when (old.preferences is distinct from new.preferences) execute function preferences_changed();
  `,
};
