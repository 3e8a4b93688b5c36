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
    | "folder"
    | "document"
    | "trace"
    | "message"
    | "item"
    | "handle"
    | "response"
    | "conversation"
    | "conversationItem",
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

export const everybody = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({
  for: "everybody",
  status,
  ...more,
});
export const users = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({
  for: "users",
  status,
  ...more,
});
export const admins = (status = 200, more: Partial<RouteAccess> = {}): RouteAccess => ({
  for: "admins",
  status,
  ...more,
});
export const owner = (
  path: (things: Things) => string,
  status = 200,
  more: Partial<RouteAccess> = {},
): RouteAccess => ({
  for: "owner",
  path,
  status,
  ...more,
});
