import type { Migration } from "../migration.ts";

/**
 * Lists, searches and looks that take as long with a hundred times the rows. 'used_at' is written when a thread gets a run or a name,
 * not with each item: what an index of 'threads' holds changes once a run, and all other updates stay HOT.
 */
export const growth: Migration = {
  name: "0031-growth",
  up: `
    alter table threads add column used_at timestamptz;
    update threads set used_at = updated_at;
    alter table threads alter column used_at set default now(), alter column used_at set not null, set (fillfactor = 80);
    drop index threads_listed;
    create index threads_listed on threads (user_id, id) where not hidden and parent_run is null and archived_at is null;
    create index threads_used on threads (user_id, used_at, id) where not hidden and parent_run is null and archived_at is null;
    create index threads_archived on threads (user_id, id) where not hidden and parent_run is null and archived_at is not null;
    create index threads_archived_used on threads (user_id, used_at, id) where not hidden and parent_run is null and archived_at is not null;

    -- A root run is found by its id, so only the runs below it are here.
    drop index if exists runs_live_children;
    create index runs_below on runs (root_run) where parent_run is not null;
    drop index if exists runs_live;
    create index runs_live on runs (user_id, status, id) where status in ('queued', 'running', 'waiting');
    -- Most runs are done, and are found on the way through all of them.
    create index runs_failed_of_user on runs (user_id, status, id) where status in ('failed', 'cancelled');
    create index runs_failed on runs (status, id) where status in ('failed', 'cancelled');

    -- With whose they are among the words: what others wrote is not read.
    drop index items_words;
    create index items_words on items using gin ((array_to_tsvector(array['@' || right(user_id::text, 12)])
      || to_tsvector('simple'::regconfig, left(message_text(body), 50000)))) where kind = 'message';

    drop index rag_chunks_by_collection;
    create index rag_chunks_by_collection on rag_chunks (collection_id, lexical, id);
    drop index rag_vectors_by_collection;
    create index rag_vectors_by_collection on rag_vectors (collection_id, graph, chunk_id);
  `,
};
