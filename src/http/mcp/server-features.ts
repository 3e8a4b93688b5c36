import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Implementation,
  InputRequiredResult,
  InputResponses,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/server";

/** One `tools/call`, and the capabilities of its client. */
export type McpCall = {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `_meta["colloquy/idempotencyKey"]`: a call sent again with the same key is not repeated. */
  readonly idempotencyKey?: string;
  /** `_meta["colloquy/outside"]`: sources of external content that the caller has read. */
  readonly outside?: readonly string[];
  /** Fires when the client cancels the call; its work must stop. */
  readonly cancelled: AbortSignal;
  /** Fires when the client disconnects; the work continues. */
  readonly gone: AbortSignal;
  /** Sends progress to the client, if it asked for it. */
  readonly progress: (text: string) => void;
  /** Whether the client can ask its user: the call can then end with questions and is sent again with the answers. */
  readonly canElicit: boolean;
  /** Result of the previous call and the answers to its questions; both come from the client. */
  readonly state?: string;
  readonly answers: Readonly<InputResponses>;
};

export type McpTool = {
  readonly definition: Tool;
  /** Calls a tool. Errors that a model can react to become error results. */
  call(call: McpCall): Promise<CallToolResult | InputRequiredResult>;
};

export type McpPrompt = {
  readonly definition: Prompt;
  get(values: Readonly<Record<string, string>>): Promise<GetPromptResult | InputRequiredResult>;
  /** Completes an argument that starts with `value`. */
  complete?(argument: string, value: string): Promise<readonly string[]>;
};

export type McpResources = {
  /** Lists a page; `cursor` is the previous page's `nextCursor`. */
  list(cursor: string | undefined): Promise<{ readonly resources: Resource[]; readonly nextCursor?: string }>;
  readonly templates: readonly ResourceTemplateType[];
  /** Undefined if it doesn't exist, or belongs to someone else. */
  read(uri: string): Promise<ReadResourceResult | undefined>;
  complete?(value: string): Promise<readonly string[]>;
};

/** The MCP server as one caller sees it. Created for each request, so that callers are isolated from each other. */
export type McpSurface = {
  readonly info: Implementation;
  readonly instructions?: string;
  /** In listing order, which is the same for every request. */
  tools(): Promise<readonly McpTool[]>;
  readonly prompts?: readonly McpPrompt[];
  readonly resources?: McpResources;
};

export function completionOf(values: readonly string[] = []): CompleteResult {
  const most = 100;
  return { completion: { values: values.slice(0, most), total: values.length, hasMore: values.length > most } };
}
