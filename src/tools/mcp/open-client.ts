import {
  type AuthProvider,
  Client,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { GuardedFetch, GuardedPost } from "../../egress/guarded-fetch.ts";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import { type McpServerConfig, type McpTransport, transportOf } from "../../protocol/agents/mcp-servers.ts";
import { OpenCalls } from "./elicitation-calls.ts";
import type { CallAttemptOutcome } from "./failures.ts";
import { DirectCalls } from "./direct-calls.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { ToolCalls } from "./tool-calls.ts";
import { watchRequests } from "./watched-transport.ts";

export type McpClientOptions = {
  readonly server: string;
  readonly config: McpServerConfig;
  readonly version: string;
  /** What a started program gets of our environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly fetch: GuardedFetch["fetch"];
  /** Past `fetch`, where there is such a way. */
  readonly post?: GuardedPost | undefined;
  /** Sees all that the server answers. */
  readonly watch?: ((fetch: GuardedFetch["fetch"]) => GuardedFetch["fetch"]) | undefined;
  readonly auth?: AuthProvider | undefined;
  /** The server is known to speak only the older protocol. */
  readonly isLegacy: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Breaks connecting off. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

export type OpenClient = {
  readonly client: Client;
  readonly transport: McpTransport;
  readonly calls: ToolCalls;
  /** In the older protocol, where a server may ask in the middle of a call. */
  readonly asking: OpenCalls<CallAttemptOutcome>;
  readonly close: () => Promise<void>;
};

/** A program that is silent about the newer protocol knows only the older. */
const probeTimeoutMs = 3000;
const farewellMs = 1000;

/** Connects and agrees on a protocol: the newest that both speak. Throws what the client throws, within `timeoutMs`. */
export async function openClient(options: McpClientOptions): Promise<OpenClient> {
  const { config, server } = options;
  const kind = transportOf(config);
  if (kind === "stdio") return openProgram(options);
  if (config.url === undefined) throw new Error(`${server} has no url.`);
  const url = new URL(config.url);
  if (kind === "sse") return openSse(options, url);
  try {
    return await openHttp(options, url);
  } catch (error) {
    if (kind !== "http" || !isNoStreamableHttp(error)) throw error;
    // What the newer transport says of its failure helps more than that the older one is missing too.
    return openSse(options, url).catch(() => Promise.reject(error as Error));
  }
}

async function openProgram(options: McpClientOptions): Promise<OpenClient> {
  const { server, config, environment, log, maxBytes, isLegacy, signal } = options;
  const { command = "", args = [], env = {}, cwd } = config;
  const start = async (legacy: boolean): Promise<OpenClient> => {
    const transport = new StdioTransport({
      server,
      command,
      args,
      env: { ...environment, ...env },
      cwd,
      log,
      maxBytes,
    });
    const { client, ...calls } = clientOf({ ...options, isLegacy: legacy }, { transport });
    try {
      await connect(client, transport, options);
    } catch (error) {
      if (transport.ending === undefined) throw error;
      throw new Error(`${command} ${transport.ending} before it answered.`, { cause: error });
    }
    calls.calls.connected();
    return { client, ...calls, transport: "stdio", close: () => client.close() };
  };
  if (isLegacy) return start(true);
  try {
    return await start(false);
  } catch (error) {
    if (signal.aborted || messageOf(error).includes("can't be started")) throw error;
    // Some end at a first message that they don't know.
    return start(true);
  }
}

async function openHttp(options: McpClientOptions, url: URL): Promise<OpenClient> {
  const { config, post, auth, watch } = options;
  const shortWay = post && new DirectCalls({ url, post, headers: config.headers ?? {}, auth });
  const fetch = shortWay?.handing(options.fetch) ?? options.fetch;
  const transport = watchRequests(
    new StreamableHTTPClientTransport(url, httpOptions({ ...options, fetch: watch?.(fetch) ?? fetch })),
  );
  const { client, ...calls } = clientOf(options, { transport, shortWay });
  await connect(client, transport, options);
  shortWay?.connected({ transport, isModern: client.getProtocolEra() === "modern" });
  calls.calls.connected();
  return {
    client,
    ...calls,
    transport: "streamable-http",
    async close() {
      // A server that keeps sessions need not keep this one; one that does not answer is not waited for.
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, farewellMs);
      await Promise.race([transport.terminateSession().catch(() => {}), late]);
      clearTimeout(timer);
      await client.close();
    },
  };
}

async function openSse(options: McpClientOptions, url: URL): Promise<OpenClient> {
  const fetch = options.watch?.(options.fetch) ?? options.fetch;
  const transport = new SSEClientTransport(url, httpOptions({ ...options, fetch }));
  const { client, ...calls } = clientOf({ ...options, isLegacy: true }, { transport });
  await connect(client, transport, options);
  calls.calls.connected();
  // The answers come on this one stream; one that begins anew has not those of before.
  client.onerror = (error) => {
    if (error instanceof SseError) void client.close();
  };
  return { client, ...calls, transport: "sse", close: () => client.close() };
}

function httpOptions({ config, fetch, auth }: McpClientOptions) {
  return {
    fetch,
    requestInit: { headers: config.headers ?? {} },
    ...(auth ? { authProvider: auth } : {}),
  };
}

function clientOf(
  { version, isLegacy }: McpClientOptions,
  { transport, shortWay }: { readonly transport: Transport; readonly shortWay?: DirectCalls | undefined },
) {
  const about = { name: "colloquy", version };
  // What a person leaves out has the value that the form gives it.
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new Client(about, {
    versionNegotiation: isLegacy ? { mode: "legacy" } : { mode: "auto", probe: { timeoutMs: probeTimeoutMs } },
    capabilities,
    inputRequired: { autoFulfill: false },
  });
  const asking = new OpenCalls<CallAttemptOutcome>();
  // The newer protocol ends the call for the question; in the older one the call waits.
  client.setRequestHandler("elicitation/create", ({ params }) => asking.ask(params));
  return { client, asking, calls: new ToolCalls({ client, transport, about, capabilities, shortWay }) };
}

/** Closes what did not connect, whatever it waits for. */
async function connect(
  client: Client,
  transport: Parameters<Client["connect"]>[0],
  { timeoutMs, server, signal }: McpClientOptions,
) {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${server} did not answer within ${timeoutMs} ms.`)), timeoutMs);
  const stop = () => reject(new Error(`${server} is not needed any more.`));
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([client.connect(transport, { timeout: timeoutMs }), late]);
  } catch (error) {
    await Promise.race([transport.close(), new Promise((resolve) => setTimeout(resolve, 3 * farewellMs))]).catch(
      () => {},
    );
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Neither of the newer transport's protocols: it may be an older server. */
function isNoStreamableHttp(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status >= 400 && error.status < 500 && ![401, 403, 407, 408, 429].includes(error.status);
}
