import type { Caller } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { Services } from "../server/services.ts";
import { askToolOf } from "./ask-agents.ts";
import type { McpPrompt } from "./server-features.ts";
import { findThreads, threadUri, transcriptOf } from "./thread-resources.ts";

/**
 * What a person picks in a client: to ask an agent of ours, or to take a conversation of theirs along. An agent's own
 * instructions stay here. `reader`: whose conversations may be read; absent: none.
 */
export function colloquyPrompts(services: Services, reader: Caller | undefined): McpPrompt[] {
  const prompts = services.agents.list().map(askPrompt);
  return reader ? [...prompts, threadPrompt(services, reader)] : prompts;
}

function askPrompt(agent: ReturnType<Services["agents"]["list"]>[number]): McpPrompt {
  const tool = askToolOf(agent);
  return {
    definition: {
      name: tool,
      title: `Ask ${agent.id}`,
      description: agent.description || `Asks the agent ${agent.id}`,
      arguments: [{ name: "message", description: "What to say to the agent", required: true }],
    },
    get: async ({ message = "" }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "text",
            text: `Call the tool ${tool} with the message between the lines, and give its answer unchanged.\n---\n${message}\n---`,
          },
        },
      ],
    }),
  };
}

function threadPrompt(services: Services, caller: Caller): McpPrompt {
  return {
    definition: {
      name: "thread",
      title: "Go on from a conversation",
      description: "Brings one of your Colloquy threads into this conversation",
      arguments: [
        { name: "id", description: "The thread's id", required: true },
        { name: "message", description: "What to do with it" },
      ],
    },
    async get({ id = "", message = "" }) {
      const text = await transcriptOf(services, caller, id);
      if (text === undefined) throw new InvalidInput(`Thread ${id} not found.`);
      const resource = { uri: threadUri(id), mimeType: "text/markdown", text };
      return {
        messages: [
          { role: "user", content: { type: "resource", resource } },
          { role: "user", content: { type: "text", text: message || "Continue this conversation." } },
        ],
      };
    },
    complete: async (argument, value) => (argument === "id" ? findThreads(services, caller, value) : []),
  };
}
