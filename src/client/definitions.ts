import type { FoundModels, ModelTrial, McpTrial } from "../protocol/agents/trials.ts";
import type {
  Definition,
  DefinedView,
  DefinedAgent,
  DefinedModel,
  DefinedMcpServer,
  DefaultView,
} from "../protocol/agents/definitions.ts";
import { addressAt, ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

/** `confirm`: what it runs, as `commandLineOf` tells it, once a person has seen that. */
export type DefinitionDraft = { readonly id: string; readonly definition: Definition; readonly confirm?: string };

/** Client for one kind of definition. */
export type KindClient<View extends DefinedView> = {
  list(signal?: AbortSignal): Promise<readonly View[]>;
  create(draft: DefinitionDraft, signal?: AbortSignal): Promise<View>;
  /** Changes a definition; `revision` is the one that was read. */
  change(draft: DefinitionDraft & { readonly revision: string }, signal?: AbortSignal): Promise<View>;
  /** Deletes a definition; `force` deletes it even if others need it. */
  remove(id: string, options?: { readonly force?: boolean }, signal?: AbortSignal): Promise<void>;
};

/** Definitions of agents, models and MCP servers, and the defaults. Admins only. */
export type DefinitionClient = {
  readonly agents: KindClient<DefinedAgent>;
  readonly models: KindClient<DefinedModel>;
  readonly mcpServers: KindClient<DefinedMcpServer>;
  /** Starts a test run in a new thread of the caller. */
  tryAgent(
    id: string,
    prompt: string,
    signal?: AbortSignal,
  ): Promise<{ readonly id: string; readonly threadId: string; readonly cursor: string }>;
  /** URL of an agent's Markdown file. */
  agentFile(id: string): string;
  findModels(
    address: { readonly baseUrl: string; readonly apiKey?: string },
    signal?: AbortSignal,
  ): Promise<FoundModels>;
  /** Tests a stored definition, or one that is not saved. */
  tryModel(model: string | DefinitionDraft, signal?: AbortSignal): Promise<ModelTrial>;
  tryMcpServer(mcpServer: string | DefinitionDraft, signal?: AbortSignal): Promise<McpTrial>;
  /** Returns the URL where the caller signs in to an MCP server. */
  signIn(name: string, signal?: AbortSignal): Promise<string>;
  signOut(name: string, signal?: AbortSignal): Promise<void>;
  defaults(signal?: AbortSignal): Promise<readonly DefaultView[]>;
  /** Sets a default; undefined resets it. */
  setDefault(of: DefaultView["of"], value: string | undefined, signal?: AbortSignal): Promise<DefaultView>;
};

export function createDefinitionClient(server: ServerAccess): DefinitionClient {
  const post = <Answer>(path: string, body: unknown, signal?: AbortSignal) =>
    askJson<Answer>(server, path, { method: "POST", body, signal });
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, path, { signal });
  const kind = <View extends DefinedView>(path: string): KindClient<View> => ({
    list: (signal) => list(path, signal),
    create: (draft, signal) => post(path, draft, signal),
    change: ({ id, ...body }, signal) =>
      askJson(server, `${path}/${encodeURIComponent(id)}`, { method: "PUT", body, signal }),
    async remove(id, { force } = {}, signal) {
      const query = queryOf({ force: force ? "true" : undefined });
      await ask(server, `${path}/${encodeURIComponent(id)}${query}`, { method: "DELETE", signal });
    },
  });
  /** A kept one by its id, a draft whole. */
  const trial = <Answer>(path: string, of: string | DefinitionDraft, signal?: AbortSignal) =>
    typeof of === "string"
      ? post<Answer>(`${path}/${encodeURIComponent(of)}/try`, {}, signal)
      : post<Answer>(`${path}/try`, of, signal);
  const agents = "/api/admin/agents";
  const signInOf = (name: string) => `/api/mcp/servers/${encodeURIComponent(name)}/sign-in`;
  return {
    agents: kind(agents),
    models: kind("/api/admin/models"),
    mcpServers: kind("/api/admin/mcp-servers"),
    tryAgent: (id, prompt, signal) => post(`${agents}/${encodeURIComponent(id)}/try`, { prompt }, signal),
    agentFile: (id) => addressAt(server, `${agents}/${encodeURIComponent(id)}/export`),
    findModels: (address, signal) => post("/api/admin/models/find", address, signal),
    tryModel: (of, signal) => trial("/api/admin/models", of, signal),
    tryMcpServer: (of, signal) => trial("/api/admin/mcp-servers", of, signal),
    signIn: async (name, signal) => (await post<{ url: string }>(signInOf(name), undefined, signal)).url,
    async signOut(name, signal) {
      await ask(server, signInOf(name), { method: "DELETE", signal });
    },
    defaults: (signal) => list("/api/admin/defaults", signal),
    setDefault: (of, value, signal) =>
      askJson(server, `/api/admin/defaults/${of}`, {
        signal,
        ...(value === undefined ? { method: "DELETE" as const } : { method: "PUT" as const, body: { value } }),
      }),
  };
}
