/** What can be followed, as `POST /api/events` names it. */
export type Subject =
  | { readonly of: "thread" | "run" | "room"; readonly id: string }
  | { readonly of: "tasks" | "lists" | "runs" | "all-runs" | "knowledge" };

/** A subject, from where one stands. */
export type SubjectPlace = { readonly subject: Subject; readonly cursor: string | undefined };

/** What a tab tells the hub. `id` is of the tab's own making, and never used twice. */
export type ToHub =
  | { readonly type: "open"; readonly url: string; readonly token: string | undefined }
  | ({ readonly type: "follow"; readonly id: number } & SubjectPlace)
  | { readonly type: "leave"; readonly id: number }
  /** Sent now and then, since nobody tells when a tab has died. */
  | { readonly type: "here" }
  /** The network may have changed, or the login: look at once. */
  | { readonly type: "look" }
  | { readonly type: "close" };

export type StreamError = { readonly code: string; readonly message: string; readonly status: number };

/** What the hub tells a tab. */
export type ToTab =
  /** `data`: an event as JSON. */
  | { readonly type: "event"; readonly id: number; readonly data: string; readonly cursor: string | undefined }
  | { readonly type: "over"; readonly id: number }
  | { readonly type: "refused"; readonly id: number; readonly error: StreamError }
  | { readonly type: "connection"; readonly isConnected: boolean }
  /** As whom the server knows this browser, and what time it was there when this clock, which nobody sets, showed `at`. */
  | { readonly type: "user"; readonly user: string; readonly now: string; readonly at: number }
  /** Sent now and then, since nobody tells when a worker has died. */
  | { readonly type: "here" }
  /** The hub took the tab for dead. */
  | { readonly type: "dropped" };
