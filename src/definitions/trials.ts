import type { FoundModels, ModelTrial, McpTrial } from "../protocol/agents/trials.ts";
import { findModels, type FindModelsOptions } from "../models/discovery/find-models.ts";
import { createModels, type ModelsOptions } from "../models/registry.ts";
import { tryModel } from "../models/discovery/try-model.ts";
import type { Caller } from "../protocol/base/callers.ts";
import { Conflict } from "../protocol/base/errors.ts";
import type { ModelCallRecord } from "../protocol/agents/models.ts";
import type { McpOptions, McpServers } from "../tools/mcp/mcp-servers.ts";
import { tryNewServer, tryServer } from "../tools/mcp/try-server.ts";
import { definitionInvalid, type UncheckedDraft } from "./check-draft.ts";

import type { Definitions } from "./definitions.ts";

export type TrialsOptions = Pick<McpOptions, "version" | "environment" | "log"> &
  Pick<ModelsOptions, "isOwn" | "connect"> & {
    readonly definitions: Definitions;
    readonly servers: McpServers;
    readonly onCall: (record: ModelCallRecord) => void;
  };

export type Trials = ReturnType<typeof createTrials>;

const longestMs = 60_000;
const maxTokens = 512;

/** Trying what is defined, and what might be. */
export function createTrials({ definitions, servers, onCall, isOwn, connect, ...options }: TrialsOptions) {
  return {
    /** One short answer; of a draft, beside the models that there are. */
    async model(
      asked: string | UncheckedDraft,
      { prompt, caller, signal }: { readonly prompt: string; readonly caller: Caller; readonly signal: AbortSignal },
    ): Promise<ModelTrial> {
      const id = typeof asked === "string" ? asked : asked.id;
      const { models: all, ofAdmins } = definitions.choice();
      const draft = typeof asked === "string" ? undefined : sound("model", asked);
      // Once: whoever waits wants to know what went wrong, not whether it may go well some time.
      const models = [...all.filter((model) => model.id !== draft?.id), ...(draft ? [draft] : [])].map((model) =>
        model.id === id && model.provider !== undefined && model.provider !== "demo" ? { ...model, retries: 0 } : model,
      );
      const registry = createModels({
        models,
        ofAdmins: draft ? [...ofAdmins, draft.id] : ofAdmins,
        connect,
        ...(isOwn && { isOwn }),
      });
      try {
        const request = {
          messages: [{ role: "user" as const, content: prompt }],
          settings: { maxTokens },
          origin: { userId: caller.userId },
          onCall,
        };
        return await tryModel(registry.get(id), request, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]));
      } finally {
        await registry.close();
      }
    },

    findModels: (wish: FindModelsOptions): Promise<FoundModels> => findModels(wish, connect),

    server(asked: string | UncheckedDraft, caller: Caller, signal: AbortSignal): Promise<McpTrial> {
      if (typeof asked !== "string")
        return tryNewServer({ name: asked.id, config: sound("mcp-server", asked) }, options, caller, signal);
      const { state } = definitions.find("mcp-server", asked);
      if (state !== "active")
        throw new Conflict(`The MCP server "${asked}" is ${state}, so it is not connected.`, { code: "not_active" });
      return tryServer(servers, asked, caller, signal);
    },
  };

  function sound<Kind extends "model" | "mcp-server">(kind: Kind, draft: UncheckedDraft) {
    const { definition, problems } = definitions.check(kind, draft);
    if (problems.length > 0 || !definition) throw definitionInvalid(`"${draft.id}"`, problems);
    return definition;
  }
}
