import { z } from "zod";
import { agentSchema, type AgentDefinition } from "../../src/protocol/agents/agents.ts";
import type { Item } from "../../src/protocol/threads/items.ts";
import { textOf } from "../../src/protocol/threads/items.ts";
import { createAgentRegistry } from "../../src/agents/registry.ts";
import { roomAgent } from "../../src/rooms/room-agents.ts";
import { roomFileSchema } from "../../src/rooms/room-file.ts";
import { roomStrategies } from "../../src/rooms/strategies.ts";
import { isNested } from "../../src/run/log/fold.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { defineTool } from "../../src/tools/core/define-tool.ts";
import { startModelServer } from "../model-servers/model-server.ts";
import { serveTaigaAgent } from "../taiga-agent.ts";
import { startTaiga } from "../taiga/server.ts";
import { testWires } from "../wires.ts";
import { played, plainly, type Kind, type Way, type WireName } from "./ways.ts";

/** What came of one run. */
export type Came = {
  readonly status: string;
  /** All that was said to the person, in order. */
  readonly said: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly writes: number;
  readonly requests: number;
  readonly items: readonly Item[];
};

/** When the way is played: at the first request, at the second, or at all. */
export type When = "first" | "second" | "always";

export type WaysPlace = {
  /** Rejects if the run does not end. */
  readonly run: (way: Way, kind: Kind, when?: When) => Promise<Came>;
  readonly close: () => Promise<void>;
};

const maxMs = 30_000;

/** Agents of all kinds, each with a tool that reads and one that writes, whose model stands behind one wire. */
export async function openWays(database: Database, wire: WireName): Promise<WaysPlace> {
  const server = await startModelServer();
  const taiga = await startTaiga();
  const written: string[] = [];
  const tools = [
    defineTool({
      name: "read_notes",
      description: "Reads the notes.",
      input: z.object({}),
      effect: "read",
      execute: () => "no notes yet",
    }),
    defineTool({
      name: "write_note",
      description: "Writes a note.",
      input: z.object({ subject: z.string() }),
      effect: "write",
      execute({ subject }) {
        written.push(subject);
        return `noted: ${subject}`;
      },
    }),
  ];
  const names = tools.map(({ name }) => name);
  const limits = { steps: 12, toolCalls: 12, writes: 6, deadlineSeconds: 60, onLimit: "stop" } as const;
  const agentOf = (strategy: string): AgentDefinition =>
    agentSchema.parse({ id: strategy, model: "served", strategy, tools: names, limits });
  const member = { id: "member", model: "served", activation: "always", tools: names };
  const room = roomAgent(roomFileSchema.parse({ id: "room", members: [member], limits }), createAgentRegistry([]));
  const service = await serveTaigaAgent(database, {
    url: taiga.url,
    script: [],
    model: "served",
    models: [testWires.find(({ name }) => name === wire)!.model(server.url)],
    tools,
    strategies: roomStrategies,
    agents: [...["tools", "auto", "react", "json-actions", "plan-execute"].map(agentOf), room],
  });
  const taigaTools = { read: "taiga_list_milestones", write: "taiga_create_user_story" };
  const token = taiga.tokensOf("bruno").auth_token;

  async function runIn(kind: Kind): Promise<string> {
    const content = "Make a note of the milk.";
    if (kind !== "taiga") return (await service.ask(content, { agent: kind })).started.runId;
    const response = await fetch(`${service.url}/agent/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-taiga-token": token },
      body: JSON.stringify({ project_ref: "acme-app", sprint_ref: "Sprint 6", prompt: content }),
    });
    await response.text();
    return response.headers.get("x-colloquy-run") ?? "";
  }

  return {
    async run(way, kind, when = "first") {
      const answer = played(way, wire, kind === "taiga" ? taigaTools : { read: names[0]!, write: names[1]! });
      const [before, taigaBefore, writtenBefore] = [server.requests.length, taiga.state.writes.length, written.length];
      const plain = plainly(kind);
      server.always((request) => {
        const number = server.requests.length - before;
        return when === "always" || number === (when === "first" ? 1 : 2) ? answer : plain(request);
      });
      const late = AbortSignal.timeout(maxMs);
      const never = new Promise<never>((_, reject) =>
        late.addEventListener("abort", () => reject(new Error(`It did not end within ${maxMs} ms.`))),
      );
      const runId = await Promise.race([runIn(kind), never]);
      const { status, error, threadId } = await service.runs.get(service.caller, runId);
      const items = await service.threads.listItems(service.caller, threadId, { limit: 1000 });
      return {
        status,
        error,
        items,
        said: items
          .filter((item) => !isNested(item))
          .map(saidIn)
          .join(""),
        writes: kind === "taiga" ? taiga.state.writes.length - taigaBefore : written.length - writtenBefore,
        requests: server.requests.length - before,
      };
    },
    async close() {
      await service.close();
      await server.close();
      await taiga.close();
    },
  };
}

function saidIn(item: Item): string {
  return item.kind === "message" && item.step !== null && !("erased" in item.body) ? textOf(item.body.content) : "";
}
