import type { Route } from "./endpoint.ts";
import {
  changeCollection,
  createCollection,
  deleteCollection,
  getCollection,
  listCollections,
  reindexCollection,
} from "./routes/collections.ts";
import {
  addDocumentFiles,
  addDocuments,
  deleteDocument,
  downloadDocument,
  getDocument,
  getDocumentText,
  listDocuments,
  putDocument,
  retryDocument,
} from "./routes/documents.ts";

/** Collections and their documents. */
export const knowledgeRoutes: readonly Route[] = [
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
  ["GET", "/api/rag/documents/:id", getDocument],
  ["DELETE", "/api/rag/documents/:id", deleteDocument],
  ["GET", "/api/rag/documents/:id/content", downloadDocument],
  ["GET", "/api/rag/documents/:id/text", getDocumentText],
  ["POST", "/api/rag/documents/:id/retry", retryDocument],
];
