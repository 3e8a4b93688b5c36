import type { ToolResult } from "../../protocol/tools.ts";
import type { Failure } from "./failures.ts";

/** What became of one try of a call. */
export type Outcome = Failure | { readonly kind: "answer"; readonly result: ToolResult };
