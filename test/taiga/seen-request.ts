import type { Body } from "./context.ts";

/** A request as the log keeps it. */
export type SeenRequest = {
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Nobody, or somebody whose token is over, is undefined. */
  readonly username: string | undefined;
  readonly body: Body;
  /** Of what the routes did, whatever the client got to hear; undefined when they were not reached. */
  status: number | undefined;
  /** Something was changed. */
  effect: boolean;
};
