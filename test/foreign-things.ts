import type { Things } from "./access-rows.ts";

/** What a path's first parameter names. `open`: a name that everybody may know, or a link that is its own key. */
export const namedBy: readonly (readonly [prefix: string, thing: keyof Things | "open"])[] = [
  ["/chat/{id}/stream", "thread"],
  ["/chat/{id}", "open"],
  ["/shared/{id}", "open"],
  ["/rooms/{id}", "open"],
  ["/knowledge/{id}", "open"],
  ["/runs/{id}", "open"],
  ["/admin/{section}", "open"],
  ["/settings/{section}", "open"],
  ["/assets/{path}", "open"],
  ["/icons/{name}", "open"],
  ["/api/shared/{id}", "open"],
  ["/v1/models/{id}", "open"],
  ["/api/blobs/{digest}", "open"],
  ["/api/tools/{name}", "open"],
  ["/api/mcp/servers/{name}", "open"],
  // of a session, which a header names
  ["/api/files/{path}", "open"],
  ["/v1/files/{id}", "upload"],
  ["/v1/responses/{id}", "response"],
  ["/v1/conversations/{id}", "conversation"],
  ["/agent/run/{id}", "run"],
  ["/api/chat/sessions/{id}", "thread"],
  ["/api/chat/history/{id}", "thread"],
  ["/chatkit/{id}", "thread"],
  ["/api/threads/{id}", "thread"],
  ["/api/uploads/{id}", "upload"],
  ["/api/shares/{id}", "share"],
  ["/api/runs/{id}", "run"],
  ["/api/grants/{id}", "grant"],
  ["/api/schedules/{id}", "schedule"],
  ["/api/tasks/{id}", "task"],
  ["/api/folders/{id}", "folder"],
  ["/api/rag/collections/{id}", "collection"],
  ["/api/rag/documents/{id}", "document"],
  ["/api/rag/traces/{id}", "trace"],
  ["/api/rooms/{id}", "room"],
  ["/api/auth/sessions/{id}", "login"],
  ["/api/auth/keys/{id}", "key"],
  ["/api/admin/users/{id}", "user"],
  ["/api/admin/keys/{id}", "key"],
  ["/api/admin/invites/{id}", "invite"],
  ["/api/admin/runs/{id}", "run"],
  ["/api/admin/budgets/{id}", "user"],
  ["/api/admin/erasures/{id}", "user"],
  ["/api/admin/retention/{kind}", "user"],
  ["/api/admin/agents/{id}", "user"],
  ["/api/admin/models/{id}", "user"],
  ["/api/admin/mcp-servers/{id}", "user"],
  ["/api/admin/defaults/{of}", "user"],
  ["/api/admin/groups/{name}", "user"],
];

/** What the second parameter of a path is, where it names a thing of its own. */
export const namedSecond: Readonly<Record<string, keyof Things>> = {
  item: "item",
  item_id: "conversationItem",
  handle: "handle",
};

const message = { content: "hi" };
const form = {
  body: '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--x--\r\n',
  headers: { "content-type": "multipart/form-data; boundary=x" },
};

const about = {
  ...{ name: "a", kind: "text", mediaType: "text/plain", metadata: {}, pages: null },
  made: { chunkSize: 100, chunkOverlap: 10, embeddingModel: "none" },
};
const field = (name: string, text: string) => `--x\r\ncontent-disposition: form-data; ${name}\r\n\r\n${text}\r\n`;
const file = (name: string, text: string) => field(`name="${name}"; filename="${name}"`, text);
const exported = {
  ...form,
  body: `${field('name="about"', JSON.stringify(about))}${file("original", "a")}${file("text", "a")}${file("chunks", "[]")}--x--\r\n`,
};

/** Requests that are right in all but whose thing it is, where the row in the table of routes is not. */
export const rightRequests: Readonly<
  Record<string, (things: Things) => { readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }>
> = {
  "POST /api/threads/{id}/messages": ({ message: instead }) => ({ body: { message, instead } }),
  "POST /api/threads/{id}/runs": () => ({ body: { agent: "assistant", message, mode: "interrupt" } }),
  "POST /api/threads/{id}/files": () => form,
  "POST /api/rooms/{id}/files": () => form,
  "POST /api/rag/collections/{id}/files": () => form,
  "POST /api/rag/collections/{id}/import": () => exported,
  "POST /api/runs/{id}/results": ({ item }) => ({ body: { results: [{ call: item, content: "x" }] } }),
  "PATCH /api/uploads/{id}": () => ({ body: "x", headers: { "upload-offset": "0", "content-type": "text/plain" } }),
  "POST /api/rooms/{id}/members": () => ({ body: { user: "other" } }),
};

/** What is said to whoever names a thing that is not theirs, if it is not 404 or 403: what there is, is none. */
export const otherAnswers: Readonly<Record<string, number>> = { "GET /chat/{id}/stream": 204 };
