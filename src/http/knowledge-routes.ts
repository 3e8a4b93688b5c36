import type { EndpointRoute } from "./server/endpoint.ts";
import {
  changeCollection,
  createCollection,
  deleteCollection,
  getCollection,
  listCollections,
  readChoices,
  reindexCollection,
} from "./routes/knowledge/collections.ts";
import {
  addDocumentFiles,
  addDocuments,
  deleteDocument,
  downloadDocument,
  exportChunks,
  getDocument,
  getDocumentText,
  importDocument,
  listChunks,
  listDocuments,
  putDocument,
  retryDocument,
} from "./routes/knowledge/documents.ts";
import { getTrace, listTraces, queryKnowledge } from "./routes/knowledge/rag-query.ts";

/** Collections, their documents, and finding something in them. */
export const knowledgeRoutes: readonly EndpointRoute[] = [
  ["GET", "/api/rag/choices", readChoices],
  ["POST", "/api/rag/collections", createCollection],
  ["GET", "/api/rag/collections", listCollections],
  ["GET", "/api/rag/collections/:id", getCollection],
  ["PATCH", "/api/rag/collections/:id", changeCollection],
  ["DELETE", "/api/rag/collections/:id", deleteCollection],
  ["POST", "/api/rag/collections/:id/reindex", reindexCollection],
  ["POST", "/api/rag/collections/:id/documents", addDocuments],
  ["GET", "/api/rag/collections/:id/documents", listDocuments],
  ["POST", "/api/rag/collections/:id/files", addDocumentFiles],
  ["PUT", "/api/rag/collections/:id/files/*", putDocument],
  ["POST", "/api/rag/collections/:id/import", importDocument],
  ["GET", "/api/rag/documents/:id", getDocument],
  ["DELETE", "/api/rag/documents/:id", deleteDocument],
  ["GET", "/api/rag/documents/:id/content", downloadDocument],
  ["GET", "/api/rag/documents/:id/text", getDocumentText],
  ["GET", "/api/rag/documents/:id/chunks", exportChunks],
  ["GET", "/api/rag/documents/:id/passages", listChunks],
  ["POST", "/api/rag/documents/:id/retry", retryDocument],
  ["POST", "/api/rag/query", queryKnowledge],
  ["GET", "/api/rag/traces", listTraces],
  ["GET", "/api/rag/traces/:id", getTrace],
];
