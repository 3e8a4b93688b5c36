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

/** One `tools/call`, with what its client can do while it works. */
export type McpCall = {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `_meta["colloquy/idempotencyKey"]`: the same call sent again with it is not done twice. */
  readonly idempotencyKey?: string;
  /** `_meta["colloquy/outside"]`: whose text its caller had read. */
  readonly outside?: readonly string[];
  /** Fires when the client takes the call back; what works for it must stop. */
  readonly cancelled: AbortSignal;
  /** Fires when nobody reads the answer any more; the work goes on. */
  readonly gone: AbortSignal;
  /** Tells the client, if it wants to know. */
  readonly progress: (text: string) => void;
  /** The client can ask its person: the call may end with questions, and comes again with the answers. */
  readonly canElicit: boolean;
  /** What the call before this one ended with, and the answers to its questions; both come from the client. */
  readonly state?: string;
  readonly answers: Readonly<InputResponses>;
};

export type McpTool = {
  readonly definition: Tool;
  /** Resolves to an error result for what a model may react to. */
  call(call: McpCall): Promise<CallToolResult | InputRequiredResult>;
};

export type McpPrompt = {
  readonly definition: Prompt;
  get(values: Readonly<Record<string, string>>): Promise<GetPromptResult | InputRequiredResult>;
  /** What an argument may begin with `value` for. */
  complete?(argument: string, value: string): Promise<readonly string[]>;
};

export type McpResources = {
  /** A page; `cursor` is the last page's `nextCursor`. */
  list(cursor: string | undefined): Promise<{ readonly resources: Resource[]; readonly nextCursor?: string }>;
  readonly templates: readonly ResourceTemplateType[];
  /** Undefined: there is none, or it is not the caller's. */
  read(uri: string): Promise<ReadResourceResult | undefined>;
  complete?(value: string): Promise<readonly string[]>;
};

/** What one caller sees of an MCP server: made anew for each request, so nothing of one caller reaches another. */
export type McpSurface = {
  readonly info: Implementation;
  readonly instructions?: string;
  /** In the order in which they are listed; the same at every request. */
  tools(): Promise<readonly McpTool[]>;
  readonly prompts?: readonly McpPrompt[];
  readonly resources?: McpResources;
};

export function completionOf(values: readonly string[] = []): CompleteResult {
  const most = 100;
  return { completion: { values: values.slice(0, most), total: values.length, hasMore: values.length > most } };
}
