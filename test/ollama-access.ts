import { everybody, type RouteAccess, users } from "./access-rows.ts";

/** Who may do what by Ollama's API. */
export const ollamaAccess: Readonly<Record<string, RouteAccess>> = {
  "POST /api/chat": users(400, { body: {} }),
  "POST /api/generate": users(400, { body: {} }),
  "GET /api/tags": users(),
  "GET /api/ps": users(),
  "POST /api/show": users(400, { body: {} }),
  "GET /api/version": everybody(),
  "POST /api/embed": users(400, { body: {} }),
  "POST /api/embeddings": users(400, { body: {} }),
  "POST /api/pull": users(400, { body: {} }),
  "POST /api/push": everybody(501, { body: {} }),
  "POST /api/create": everybody(501, { body: {} }),
  "POST /api/copy": everybody(501, { body: {} }),
  "DELETE /api/delete": everybody(501),
  "POST /api/blobs/:digest": everybody(501, { path: () => "/api/blobs/sha256:0" }),
};
