import { type Shape, timeSchema } from "../base/shapes.ts";
import { z } from "zod";

/** Each user signs in by OAuth 2.1; what the client is called there, unless it may register itself. */
const oauthSchema = z.strictObject({
  type: z.literal("oauth"),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** Absent: those that the server names. */
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "must be one scope without spaces")).optional(),
  /** Where people sign in, if that is in a network of your own; another one is then refused. */
  issuer: z.url({ protocol: /^https?$/ }).optional(),
});
export type OAuthConfig = z.infer<typeof oauthSchema>;

const nameSchema = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,32}$/, "must be 1 to 32 letters, digits, _ or -, since its tools' names begin with it");

/**
 * One server of tools, in the shape that other clients of the Model Context Protocol use: a program that is started
 * (`command`), or an address (`url`).
 */
export const mcpServerSchema = z
  .strictObject({
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    /** All that the program gets besides PATH, HOME and LANG. */
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().min(1).optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .refine((url) => !/^https?:\/\/[^/]*@/.test(url), "must not contain a user name or password; use headers instead")
      .optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Absent: the server is the same for all users. */
    auth: z.union([z.literal("oauth").transform((type): OAuthConfig => ({ type })), oauthSchema]).optional(),
    /** Absent: `stdio` for a command; for a URL Streamable HTTP, else the older SSE. */
    transport: z.enum(["stdio", "streamable-http", "sse", "invoke"]).optional(),
    /** What other clients call it. */
    type: z.enum(["stdio", "http", "streamable-http", "sse"]).optional(),
    /** Which of its tools are taken, by the server's own names: globs, after `!` those that are not. */
    tools: z.array(z.string().min(1)).optional(),
    /**
     * What a tool does, where the server does not say it or is not believed. `destructive`: a person is asked; `sends`: it
     * gives content to others, so a person is asked too.
     */
    effects: z.record(z.string(), z.enum(["read", "write", "destructive", "sends"])).optional(),
    /** Its results are the operator's own words, not text of others. */
    trusted: z.boolean().optional(),
    /** It passes nothing on to anybody else, so that what came from it may be told it again without a question. */
    confined: z.boolean().optional(),
    /** What the tools' names begin with; absent: the server's name. Empty: nothing. */
    prefix: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{0,32}$/, "must be at most 32 letters, digits, _ or -")
      .optional(),
    /** For one call; 60 s when absent, 30 s with `invoke`. */
    timeoutMs: z.int().min(1).max(86_400_000).optional(),
    /** How long a run waits for it while it connects, or rests after a failure; 30 s when absent. */
    waitMs: z.int().min(0).max(600_000).optional(),
    /** `invoke`: the tool that is meant when a call names none. */
    defaultTool: z.string().min(1).optional(),
    description: z.string().min(1).optional(),
    disabled: z.boolean().optional(),
  })
  .superRefine((server, context) => {
    const { command, url, type, auth, headers = {}, disabled, transport = type } = server;
    const problem = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (auth && (url === undefined || transport === "invoke"))
      problem("auth", "goes with the url of an MCP server only");
    if (auth && Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
      problem("auth", "does not go with a header Authorization");
    if (auth?.clientSecret !== undefined && auth.clientId === undefined)
      problem("auth", "has a clientSecret without a clientId");
    if (disabled && command === undefined && url === undefined) return;
    if ((command === undefined) === (url === undefined))
      problem(url === undefined ? "url" : "command", "must stand alone: a server has either a command or a url");
    else if (command === undefined ? transport === "stdio" : transport !== undefined && transport !== "stdio")
      problem("transport", `does not go with ${command === undefined ? "a url" : "a command"}`);
  });

export const mcpServersSchema = z.record(nameSchema, mcpServerSchema);

export type McpServerConfig = z.infer<typeof mcpServerSchema>;
export type McpServersConfig = Readonly<Record<string, McpServerConfig>>;

/** `http`: whichever of the two the server speaks. */
const mcpTransports = ["stdio", "http", "streamable-http", "sse", "invoke"] as const;
export type McpTransport = (typeof mcpTransports)[number];

export function transportOf({ command, transport, type }: McpServerConfig): McpTransport {
  return transport ?? type ?? (command === undefined ? "http" : "stdio");
}

/** How a server of tools is doing. */
export const mcpServerStateSchema = z.object({
  name: z.string(),
  transport: z.enum(mcpTransports),
  /** There without being configured. */
  isDefault: z.boolean().optional(),
  target: z.string().describe("The address or command, without what may be secret in it"),
  /**
   * `idle`: nobody has needed it yet, or nobody configured it and nothing listens there (`isDefault`). `sign-in needed`: the
   * user must open `signIn`.
   */
  state: z.enum(["idle", "connecting", "ready", "failed", "sign-in needed", "disabled"]),
  signIn: z.string().optional().describe("Where you sign in, for an hour"),
  /** Since when it is in this state. */
  since: timeSchema,
  reason: z.string().optional(),
  nextTry: timeSchema.optional(),
  /** The protocol's revision that was agreed on. */
  protocol: z.string().optional(),
  tools: z.int(),
  tokens: z.int().describe("What its tools cost in each prompt"),
  /** Tools that can't be offered, and why. */
  unusable: z.array(z.object({ tool: z.string(), reason: z.string() })),
});
export type McpServerState = Shape<typeof mcpServerStateSchema>;
