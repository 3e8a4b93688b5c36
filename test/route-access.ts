/** Ids of things that the user of the test has made. */
export type Things = Readonly<
  Record<
    | "thread"
    | "run"
    | "schedule"
    | "key"
    | "login"
    | "upload"
    | "share"
    | "user"
    | "invite"
    | "grant"
    | "room"
    | "collection"
    | "task"
    | "document"
    | "trace"
    | "message"
    | "item"
    | "handle",
    string
  >
>;

export type RouteAccess = {
  /** Who may: everybody; who is logged in; whose it is, so that it is not there for others (404); admins. */
  readonly for: "everybody" | "users" | "owner" | "admins";
  /** Of the answer to whoever may; 200 when absent. */
  readonly status?: number;
  /** With the ids of the user's things; the route's own path when absent. */
  readonly path?: (things: Things) => string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What an admin gets for what is another's; 404 when absent. */
  readonly admin?: number;
};

const everybody = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({
  for: "everybody",
  status,
  ...more,
});
const users = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({ for: "users", status, ...more });
const admins = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({ for: "admins", status, ...more });
const owner = (path: (things: Things) => string, status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({
  for: "owner",
  path,
  status,
  ...more,
});

const nobody = "018f0000-0000-7000-8000-00000000dead";
const message = { content: "hi" };
const emptyForm = { body: "--x--\r\n", headers: { "content-type": "multipart/form-data; boundary=x" } };
const thread = (rest: string) => (things: Things) => `/api/threads/${things.thread}${rest}`;
const run = (rest: string) => (things: Things) => `/api/runs/${things.run}${rest}`;
const upload = (rest: string) => (things: Things) => `/api/uploads/${things.upload}${rest}`;
const v1File = (rest: string) => (things: Things) => `/v1/files/${things.upload}${rest}`;
const room = (rest: string) => (things: Things) => `/api/rooms/${things.room}${rest}`;
const collection = (rest: string) => (things: Things) => `/api/rag/collections/${things.collection}${rest}`;
const document = (rest: string) => (things: Things) => `/api/rag/documents/${things.document}${rest}`;
const schedule = (rest: string) => (things: Things) => `/api/schedules/${things.schedule}${rest}`;
const task = ({ task: id }: Things) => `/api/tasks/${id}`;
const userPath = (rest: string) => (things: Things) => `/api/admin/users/${things.user}${rest}`;

/** Who may do what: a row for every route. What is deleted stands last among the rows about it. */
export const routeAccess: Readonly<Record<string, RouteAccess>> = {
  "GET /": everybody(),
  "GET /chat/:id": everybody(),
  "GET /shared/:id": everybody(),
  "GET /rooms": everybody(),
  "GET /rooms/:id": everybody(),
  "GET /tasks": everybody(),
  "GET /schedules": everybody(),
  "GET /taiga": everybody(),
  "GET /knowledge": everybody(),
  "GET /knowledge/:id": everybody(),
  "GET /runs": everybody(),
  "GET /runs/:id": everybody(),
  "GET /admin": everybody(),
  "GET /admin/:section": everybody(),
  "GET /settings": everybody(),
  "GET /settings/:section": everybody(),
  "GET /assets/*": everybody(404),
  "GET /mark.svg": everybody(),
  "GET /icons/:name": everybody(200, { path: () => "/icons/icon-192.png" }),
  "GET /manifest.webmanifest": everybody(),
  "GET /offline.html": everybody(),
  "GET /sw.js": everybody(),
  "GET /health": everybody(),
  "GET /livez": everybody(),
  "GET /readyz": everybody(),
  "GET /openapi.json": everybody(),
  "GET /docs": everybody(),
  "GET /login": everybody(),
  "GET /setup": everybody(),
  "GET /signup": everybody(),
  "GET /reset": everybody(),
  "GET /.well-known/oauth-protected-resource/mcp": everybody(),
  "GET /.well-known/oauth-protected-resource/mcp/todo": everybody(),

  "GET /api/auth/settings": everybody(),
  "POST /api/auth/setup": everybody(400, { body: {} }),
  "POST /api/auth/signup": everybody(403, { body: { username: "eve", password: "correct horse" } }),
  "POST /api/auth/login": everybody(400, { body: {} }),
  "POST /api/auth/reset": everybody(400, { body: {} }),
  "GET /api/auth/oidc/login": everybody(404),
  "GET /api/auth/oidc/callback": everybody(404),
  "POST /api/auth/oidc/connect": users(404, { body: {} }),
  "GET /api/auth/me": users(),
  "POST /api/auth/password": users(400, { body: {} }),
  "GET /api/auth/keys": users(),
  "POST /api/auth/keys": users(201, { body: { label: "one more", scopes: ["*"] } }),
  "PATCH /api/auth/keys/:id": owner(({ key }) => `/api/auth/keys/${key}`, 200, { body: { label: "renamed" } }),
  "DELETE /api/auth/keys/:id": owner(({ key }) => `/api/auth/keys/${key}`, 204),
  "GET /api/auth/sessions": users(),
  "DELETE /api/auth/sessions/:id": owner(({ login }) => `/api/auth/sessions/${login}`, 204),
  "DELETE /api/auth/sessions": users(204),

  "POST /v1/chat/completions": users(400, { body: {} }),
  "POST /v1/messages": users(400, { body: {} }),
  "POST /v1/messages/count_tokens": users(400, { body: {} }),
  "GET /v1/models": users(),
  "GET /v1/models/*": users(200, { path: () => "/v1/models/assistant" }),
  "POST /v1/files": users(400, emptyForm),
  "GET /v1/files": users(),
  "GET /v1/files/:id": owner(v1File("")),
  "GET /v1/files/:id/content": owner(v1File("/content")),

  "POST /agent/run": users(400, { body: {} }),
  "GET /agent/run/:id": owner(({ run: id }) => `/agent/run/${id}`),
  "GET /agent/tools": users(400),
  "GET /api/taiga": users(),
  "POST /api/taiga/sign-in": users(503, { body: { username: "x", password: "x" } }),
  "GET /api/taiga/projects": users(503),
  "GET /api/taiga/sprints": users(400),
  "GET /api/taiga/runs": users(),
  "POST /chat": users(422, { body: {} }),
  "GET /chat/:id/stream": users(204),
  "POST /chatkit": users(400, { body: {} }),
  "GET /chatkit/:id/items": users(400),
  "GET /api/chat/sessions": users(),
  "POST /api/chat/sessions": users(201, { body: {} }),
  "GET /api/chat/history": users(400),
  "GET /api/chat/history/:id": owner(({ thread: id }) => `/api/chat/history/${id}`),
  "PATCH /api/chat/sessions/:id": owner(({ thread: id }) => `/api/chat/sessions/${id}`, 200, { body: { title: "x" } }),
  "DELETE /api/chat/sessions/:id": users(404, { path: () => `/api/chat/sessions/${nobody}` }),

  "POST /api/threads": users(201, { body: {} }),
  "GET /api/threads": users(),
  "GET /api/threads/:id": owner(thread("")),
  "PATCH /api/threads/:id": owner(thread(""), 200, { body: { title: "x" } }),
  "GET /api/threads/:id/items": owner(thread("/items")),
  "GET /api/threads/:id/pending": owner(thread("/pending")),
  "POST /api/threads/:id/messages": users(404, {
    path: () => `/api/threads/${nobody}/messages`,
    body: { message, instead: nobody },
  }),
  "GET /api/threads/:id/events": owner(thread("/events")),
  "GET /api/threads/:id/branch": owner(thread("/branch")),
  "GET /api/threads/:id/export": owner(thread("/export")),
  "POST /api/threads/:id/runs": owner(thread("/runs"), 202, { body: { agent: "assistant", message } }),
  "POST /api/threads/:id/fork": owner(thread("/fork"), 201, { body: {} }),
  "GET /api/threads/:id/files": owner(thread("/files")),
  "POST /api/threads/:id/files": owner(thread("/files"), 400, emptyForm),
  "PUT /api/threads/:id/files/*": owner(thread("/files/a.txt"), 201, {
    body: "text",
    headers: { "content-type": "text/plain" },
  }),
  "GET /api/threads/:id/files/*": owner(thread("/files/a.txt")),
  "DELETE /api/threads/:id/files/*": owner(thread("/files/a.txt"), 204),
  "POST /api/threads/:id/shares": owner(thread("/shares"), 201, { body: {} }),
  "GET /api/threads/:id/shares": owner(thread("/shares")),
  "GET /api/shared/:id": everybody(404, { path: () => `/api/shared/${"x".repeat(43)}` }),
  "GET /api/shares": users(),
  "DELETE /api/shares/:id": owner(({ share }) => `/api/shares/${share}`, 204),

  "GET /api/tasks": users(),
  "POST /api/tasks": users(201, { body: { title: "x" } }),
  "GET /api/tasks/events": users(),
  "PATCH /api/tasks/:id": owner(task, 200, { body: { status: "completed" } }),
  "DELETE /api/tasks/:id": owner(task),

  "GET /api/rooms": users(),
  "POST /api/rooms": users(400, { body: {} }),
  "GET /api/rooms/:id": owner(room("")),
  "PATCH /api/rooms/:id": owner(room(""), 200, { body: { title: "x" } }),
  "POST /api/rooms/:id/join": owner(room("/join")),
  "POST /api/rooms/:id/members": users(404, { path: room("/members"), body: { user: "nobody here" } }),
  "DELETE /api/rooms/:id/members/:handle": users(404, { path: room("/members/nobody") }),
  "GET /api/rooms/:id/messages": owner(room("/messages")),
  "GET /api/rooms/:id/events": owner(room("/events")),
  "GET /api/rooms/:id/questions": owner(room("/questions")),
  "GET /api/rooms/:id/export": owner(room("/export")),
  "GET /api/rooms/:id/files": owner(room("/files")),
  "POST /api/rooms/:id/files": owner(room("/files"), 400, emptyForm),
  "PUT /api/rooms/:id/files/*": owner(room("/files/a.txt"), 201, {
    body: "text",
    headers: { "content-type": "text/plain" },
  }),
  "GET /api/rooms/:id/files/*": owner(room("/files/a.txt")),
  "DELETE /api/rooms/:id/files/*": owner(room("/files/a.txt"), 204),
  "POST /api/rooms/:id/messages": owner(room("/messages"), 202, { body: message }),
  "POST /api/rooms/:id/continue": owner(room("/continue"), 202),
  "POST /api/rooms/:id/interrupt": owner(room("/interrupt"), 200, { body: {} }),
  "POST /api/rooms/:id/decisions/:item": users(404, {
    path: room(`/decisions/${nobody}`),
    body: { decision: "allow" },
  }),
  "POST /api/rooms/:id/clear": owner(room("/clear")),
  "DELETE /api/rooms/:id": users(404, { path: () => `/api/rooms/${nobody}` }),

  "POST /api/uploads": users(400, emptyForm),
  "GET /api/uploads": users(),
  "POST /api/uploads/begin": users(400, { body: {} }),
  "GET /api/uploads/:id": owner(upload("")),
  "GET /api/uploads/:id/content": owner(upload("/content")),
  "PATCH /api/uploads/:id": owner(upload(""), 409, { body: "x", headers: { "upload-offset": "0" } }),
  "PUT /api/uploads/:id/content": owner(upload("/content"), 409, { body: "x" }),
  "DELETE /api/uploads/:id": users(404, { path: () => `/api/uploads/${nobody}` }),
  "GET /api/files": users(400),
  "POST /api/files": users(400, emptyForm),
  "GET /api/files/*": users(400, { path: () => "/api/files/a.txt" }),
  "PUT /api/files/*": users(400, { path: () => "/api/files/a.txt", body: {} }),
  "DELETE /api/files/*": users(400, { path: () => "/api/files/a.txt" }),

  "GET /api/rag/choices": users(),
  "POST /api/rag/collections": users(400, { body: {} }),
  "GET /api/rag/collections": users(),
  "GET /api/rag/collections/:id": owner(collection("")),
  "PATCH /api/rag/collections/:id": owner(collection(""), 200, { body: { description: "x" } }),
  "POST /api/rag/collections/:id/documents": owner(collection("/documents"), 202, { body: { name: "b", text: "b" } }),
  "GET /api/rag/collections/:id/documents": owner(collection("/documents")),
  "POST /api/rag/collections/:id/files": users(400, { ...emptyForm, path: collection("/files") }),
  "POST /api/rag/collections/:id/import": users(400, { ...emptyForm, path: collection("/import") }),
  "PUT /api/rag/collections/:id/files/*": owner(collection("/files/c.txt"), 202, {
    body: "text",
    headers: { "content-type": "text/plain" },
  }),
  "GET /api/rag/documents/:id": owner(document("")),
  "GET /api/rag/documents/:id/content": owner(document("/content")),
  "GET /api/rag/documents/:id/text": owner(document("/text")),
  "GET /api/rag/documents/:id/chunks": owner(document("/chunks")),
  "GET /api/rag/documents/:id/passages": owner(document("/passages")),
  "POST /api/rag/documents/:id/retry": owner(document("/retry"), 202),
  "DELETE /api/rag/documents/:id": owner(document(""), 204),
  "POST /api/rag/collections/:id/reindex": owner(collection("/reindex"), 202, { body: {} }),
  "POST /api/rag/query": users(200, { body: { question: "x" } }),
  "GET /api/rag/traces": users(),
  "GET /api/rag/traces/:id": users(404, { path: () => `/api/rag/traces/${nobody}` }),
  "DELETE /api/rag/collections/:id": owner(collection(""), 204),

  "GET /api/runs": users(),
  "GET /api/runs/:id": owner(run("")),
  "GET /api/runs/:id/details": owner(run("/details"), 200, { admin: 200 }),
  "GET /api/runs/:id/items/:item": owner(run(`/items/${nobody}`), 404),
  "GET /api/runs/:id/events": owner(run("/events")),
  "GET /api/runs/:id/questions": owner(run("/questions")),
  "POST /api/runs/:id/decisions/:item": owner(run(`/decisions/${nobody}`), 404, { body: { decision: "allow" } }),
  "POST /api/runs/:id/results": users(400, { path: run("/results"), body: {} }),
  "POST /api/runs/:id/continue": owner(run("/continue"), 409),
  "POST /api/runs/:id/steer": owner(run("/steer"), 409, { body: { content: "x" } }),
  "POST /api/runs/:id/cancel": owner(run("/cancel"), 200, { admin: 200 }),
  "POST /api/runs/:id/fork": owner(run("/fork"), 404, { admin: 404, body: { step: "none" } }),
  "POST /api/runs/:id/resume": owner(run("/resume"), 409, { admin: 409 }),
  "GET /api/questions": users(),
  "GET /api/grants": users(),
  "DELETE /api/grants/:id": owner(({ grant }) => `/api/grants/${grant}`, 204),

  "POST /api/schedules": users(400, { body: {} }),
  "GET /api/schedules": users(),
  "GET /api/schedules/times": users(200, { path: () => "/api/schedules/times?every=1d" }),
  "GET /api/schedules/:id": owner(schedule("")),
  "PATCH /api/schedules/:id": owner(schedule(""), 200, { body: { enabled: false } }),
  "POST /api/schedules/:id/run": owner(schedule("/run"), 202),
  "DELETE /api/schedules/:id": owner(schedule(""), 204),

  "GET /api/agents": users(),
  "GET /api/models": users(),
  "GET /api/tools/list": users(),
  "POST /api/tools/:name": users(200, { path: () => "/api/tools/now", body: {} }),
  "POST /api/tools/:name/calls": users(200, { path: () => "/api/tools/now/calls", body: { arguments: {} } }),
  "POST /api/model-relay/v1/chat/completions": everybody(401, { body: {} }),
  "GET /api/model-relay/v1/models": everybody(401),

  "GET /api/mcp/servers": users(),
  "POST /api/mcp/servers/:name/sign-in": users(404, { path: () => "/api/mcp/servers/none/sign-in" }),
  "DELETE /api/mcp/servers/:name/sign-in": users(404, { path: () => "/api/mcp/servers/none/sign-in" }),
  "GET /api/mcp/sign-in": everybody(400),
  "GET /api/mcp/callback": everybody(400),
  "GET /api/mcp/client.json": everybody(),
  "GET /mcp": users(405),
  "POST /mcp": users(400, { body: {} }),
  "DELETE /mcp": users(405),
  "GET /mcp/todo": users(405),
  "POST /mcp/todo": users(400, { body: {} }),
  "DELETE /mcp/todo": users(405),

  "GET /api/usage": users(),

  "GET /api/admin/retention": admins(),
  "GET /api/admin/retention/preview": admins(),
  "POST /api/admin/retention/run": admins(),
  "PUT /api/admin/retention/:kind": admins(200, { path: () => "/api/admin/retention/shares", body: { days: null } }),
  "DELETE /api/admin/retention/:kind": admins(204, { path: () => "/api/admin/retention/shares" }),
  "POST /api/admin/users/:id/erase": admins(400, { path: userPath("/erase"), body: { confirm: "nobody" } }),
  "GET /api/admin/users/:id/export": admins(200, { path: userPath("/export") }),
  "GET /api/admin/erasures": admins(),
  "GET /api/admin/erasures/:id": admins(404, { path: () => `/api/admin/erasures/${nobody}` }),
  "GET /api/auth/me/export": users(),
  "GET /api/budget": users(),
  "GET /api/admin/budgets": admins(),
  "PUT /api/admin/budgets": admins(400, { body: { period: "day" } }),
  "DELETE /api/admin/budgets/:id": admins(404, { path: () => `/api/admin/budgets/${nobody}` }),
  "GET /api/admin/usage": admins(),
  "GET /api/admin/models": admins(),
  "POST /api/admin/models": admins(422, { body: { id: "none", definition: {} } }),
  "POST /api/admin/models/validate": admins(200, { body: { id: "none", definition: {} } }),
  "POST /api/admin/models/find": admins(200, { body: { baseUrl: "http://127.0.0.1:9" } }),
  "POST /api/admin/models/try": admins(422, { body: { id: "none", definition: {} } }),
  "GET /api/admin/models/:id": admins(200, { path: () => "/api/admin/models/demo" }),
  "PUT /api/admin/models/:id": admins(404, {
    path: () => "/api/admin/models/none",
    body: { revision: nobody, definition: {} },
  }),
  "POST /api/admin/models/:id/try": admins(200, { path: () => "/api/admin/models/demo/try", body: {} }),
  "DELETE /api/admin/models/:id": admins(404, { path: () => "/api/admin/models/none" }),
  "GET /api/admin/agents": admins(),
  "POST /api/admin/agents": admins(422, { body: { id: "none", definition: { no: 1 } } }),
  "POST /api/admin/agents/validate": admins(200, { body: { id: "none", definition: {} } }),
  "GET /api/admin/agents/:id": admins(200, { path: () => "/api/admin/agents/assistant" }),
  "PUT /api/admin/agents/:id": admins(404, {
    path: () => "/api/admin/agents/none",
    body: { revision: nobody, definition: {} },
  }),
  "GET /api/admin/agents/:id/export": admins(200, { path: () => "/api/admin/agents/assistant/export" }),
  "POST /api/admin/agents/:id/try": admins(202, {
    path: () => "/api/admin/agents/assistant/try",
    body: { prompt: "hi" },
  }),
  "DELETE /api/admin/agents/:id": admins(404, { path: () => "/api/admin/agents/none" }),
  "GET /api/admin/mcp-servers": admins(),
  "POST /api/admin/mcp-servers": admins(422, { body: { id: "none", definition: {} } }),
  "POST /api/admin/mcp-servers/validate": admins(200, { body: { id: "none", definition: {} } }),
  "POST /api/admin/mcp-servers/try": admins(422, { body: { id: "none", definition: {} } }),
  "GET /api/admin/mcp-servers/:id": admins(200, { path: () => "/api/admin/mcp-servers/mcp_trader" }),
  "PUT /api/admin/mcp-servers/:id": admins(404, {
    path: () => "/api/admin/mcp-servers/none",
    body: { revision: nobody, definition: {} },
  }),
  "POST /api/admin/mcp-servers/:id/try": admins(404, { path: () => "/api/admin/mcp-servers/none/try" }),
  "DELETE /api/admin/mcp-servers/:id": admins(404, { path: () => "/api/admin/mcp-servers/none" }),
  "GET /api/admin/defaults": admins(),
  "PUT /api/admin/defaults/:of": admins(422, { path: () => "/api/admin/defaults/model", body: { value: "none" } }),
  "DELETE /api/admin/defaults/:of": admins(200, { path: () => "/api/admin/defaults/model" }),
  "GET /api/admin/settings": admins(),
  "GET /api/admin/audit": admins(),
  "GET /api/admin/doctor": admins(),
  "GET /api/admin/users": admins(),
  "POST /api/admin/users": admins(201, { body: { name: "made-by-admin" } }),
  "PATCH /api/admin/users/:id": admins(200, { path: userPath(""), body: {} }),
  "POST /api/admin/users/:id/reset": admins(201, { path: userPath("/reset") }),
  "GET /api/admin/users/:id/keys": admins(200, { path: userPath("/keys") }),
  "POST /api/admin/users/:id/keys": admins(201, {
    path: userPath("/keys"),
    body: { label: "by an admin", scopes: ["*"] },
  }),
  "DELETE /api/admin/keys/:id": admins(204, { path: ({ key }) => `/api/admin/keys/${key}` }),
  "GET /api/admin/invites": admins(),
  "POST /api/admin/invites": admins(201, { body: {} }),
  "DELETE /api/admin/invites/:id": admins(204, { path: ({ invite }) => `/api/admin/invites/${invite}` }),
  "GET /api/admin/groups": admins(),
  "PUT /api/admin/groups/:name": admins(200, { path: () => "/api/admin/groups/team", body: { permissions: [] } }),
  "GET /api/admin/groups/:name/members": admins(200, { path: () => "/api/admin/groups/team/members" }),
  "PUT /api/admin/groups/:name/members/:id": admins(204, {
    path: ({ user }) => `/api/admin/groups/team/members/${user}`,
  }),
  "DELETE /api/admin/groups/:name/members/:id": admins(204, {
    path: ({ user }) => `/api/admin/groups/team/members/${user}`,
  }),
  "DELETE /api/admin/groups/:name": admins(204, { path: () => "/api/admin/groups/team" }),
  "GET /api/admin/runs": admins(),
  "GET /api/admin/runs/:id": admins(200, { path: ({ run: id }) => `/api/admin/runs/${id}` }),
  "POST /api/admin/runs/:id/retry": admins(409, { path: ({ run: id }) => `/api/admin/runs/${id}/retry` }),
  "POST /api/admin/runs/:id/ledger/:step/:index": admins(404, {
    path: ({ run: id }) => `/api/admin/runs/${id}/ledger/1/0`,
    body: { status: "done" },
  }),
  "POST /api/admin/runs/:id/cancel": admins(200, { path: ({ run: id }) => `/api/admin/runs/${id}/cancel` }),
  "POST /api/admin/runs/:id/resume": admins(409, { path: ({ run: id }) => `/api/admin/runs/${id}/resume` }),
  "DELETE /api/admin/users/:id/sessions": admins(204, { path: userPath("/sessions") }),
  "DELETE /v1/files/:id": owner(v1File("")),
  "DELETE /api/threads/:id": owner(thread(""), 204),
  "POST /api/auth/open-codes": users(404),
  "POST /api/auth/open": everybody(404, { body: { code: "none" } }),
  "POST /api/auth/logout": users(204),
};
