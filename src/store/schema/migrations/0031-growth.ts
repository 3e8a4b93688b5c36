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
    alter table threads alter column used_at set default now(), alter column used_at set not null;
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

    -- With whose they are among the words: those of others are not read.
    drop index items_words;
    create index items_words on items using gin ((array_to_tsvector(array['@' || right(user_id::text, 12)])
      || to_tsvector('simple'::regconfig, left(message_text(body), 50000)))) where kind = 'message';

    drop index rag_terms_by_term;
    create index rag_terms_by_term on rag_terms using gin ((array_to_tsvector(array['@' || right(collection_id::text, 12)]) || terms));
    drop index rag_terms_by_collection;
    create index rag_terms_by_collection on rag_terms (collection_id, chunk_id) include (length);
    drop index rag_chunks_by_collection;
    create index rag_chunks_by_collection on rag_chunks (collection_id, lexical, id);
    drop index rag_vectors_by_collection;
    create index rag_vectors_by_collection on rag_vectors (collection_id, graph, chunk_id);

    -- What the call log comes to in an hour, and in a day for each account, too, so that nobody reads the log for it. 'of_all':
    -- of all models and agents together. 'runs': those that began there, 'model_runs': those that first asked this model there. 'first_parts', 'totals':
    -- how many requests took how long, by steps of five percent. Those of an account that is erased stay, without it, as its rows of
    -- the log do.
    create table usage_rollups (
      id uuid primary key default gen_random_uuid(),
      span text not null check (span in ('hour', 'day')),
      starts_at timestamptz not null,
      of_user boolean not null,
      user_id uuid references users on delete set null,
      of_all boolean not null,
      model text not null,
      agent text not null,
      requests bigint not null,
      errors bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cost double precision not null,
      runs bigint not null,
      model_runs bigint not null,
      first_parts jsonb not null,
      totals jsonb not null,
      last_at timestamptz not null,
      last_error_at timestamptz
    );
    create index usage_rollups_by_time on usage_rollups (span, of_user, of_all, starts_at);
    create index usage_rollups_by_user on usage_rollups (user_id, of_all, starts_at) where user_id is not null;
  `,
};
