import type { Migration } from "../migration.ts";

/** Whoever looks at collections is told when one of them or its documents have changed. */
export const knowledgeTells: Migration = {
  name: "0040-knowledge-tells",
  up: `
    create function knowledge_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('colloquy_knowledge', 'all');
      return null;
    end $$;
    create trigger rag_documents_tell after insert or update or delete on rag_documents
      for each row execute function knowledge_changed();
    create trigger rag_collections_tell after insert or update or delete on rag_collections
      for each row execute function knowledge_changed();
    create trigger rag_indexes_tell after insert or update or delete on rag_indexes
      for each row execute function knowledge_changed();
  `,
};
