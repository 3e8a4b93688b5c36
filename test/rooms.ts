import { createAgentRegistry } from "../src/agents/registry.ts";
import type { Script, ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { AgentDefinition } from "../src/protocol/agents/agents.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { textOf } from "../src/protocol/threads/items.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { loadRooms } from "../src/rooms/load-rooms.ts";
import { roomAgent } from "../src/rooms/room-agents.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import type { TestRuns } from "./runs.ts";

export type SaidThen = {
  readonly threadId: string;
  readonly runId: string;
  readonly seen: readonly RunEvent[];
  readonly lines: readonly string[];
};

/** Says something in a room and waits until it is the people's turn; all of the thread's events since. */
export async function sayIn(
  { runs, caller }: Pick<TestRuns, "runs" | "caller">,
  content: string,
  { agent = "room", threadId }: { readonly agent?: string; readonly threadId?: string } = {},
): Promise<SaidThen> {
  const started = await runs.start(caller, {
    agent,
    message: { content },
    ...(threadId === undefined ? {} : { threadId }),
  });
  const seen: RunEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const follower = runs.follow({ threadId: started.threadId }, started.cursor, {
      events(batch) {
        seen.push(...batch);
        if (!batch.some((event) => event.type === "run-end" && event.run === started.runId)) return;
        // The follower is not there yet if all was told at once.
        queueMicrotask(() => follower.close());
        resolve();
      },
      error: reject,
    });
  });
  return { threadId: started.threadId, runId: started.runId, seen, lines: saidIn(seen) };
}

type Say = (request: ModelRequest, count: number) => ScriptAnswer;

/** Answers of each member in order, or what it answers; who is asked stands in its instructions as `You are @name`. */
export function scriptOf(lines: Readonly<Record<string, readonly ScriptAnswer[] | Say>>): Script {
  const counts = new Map<string, number>();
  return (request) => {
    const name = speakerOf(request);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const said = lines[name];
    const answer = typeof said === "function" ? said(request, count) : said?.[count];
    return answer ?? [{ error: "refused", message: `@${name} has no more lines than ${count}` }];
  };
}

export function speakerOf({ messages }: ModelRequest): string {
  const [system] = messages;
  return /You are @(\w+)/.exec(system?.role === "system" ? system.content : "")?.[1] ?? "";
}

/** The messages of a request as lines, to compare. */
export function linesOf({ messages }: ModelRequest): string[] {
  return messages.slice(1).map((message) => {
    if (message.role === "assistant")
      return `assistant: ${message.content}${(message.calls ?? []).map((call) => ` {${call.arguments}}`).join("")}`;
    if (message.role === "tool") return `tool: ${message.content}`;
    return `${message.role}: ${typeof message.content === "string" ? message.content : textOf([...message.content])}`;
  });
}

/** The built-in room, with the model of tests. */
export async function analysisRoom(): Promise<AgentDefinition> {
  const { rooms } = await loadRooms({});
  const agent = roomAgent(
    rooms.find(({ id }) => id === "analysis")!,
    createAgentRegistry([]),
  );
  return withScript(agent);
}

/** A room as its file would say. */
export function roomOf(values: object): AgentDefinition {
  return withScript(roomAgent(roomFileSchema.parse({ id: "room", ...values }), createAgentRegistry([])));
}

/** A member that is told who it is, and no more. */
export function memberOf(id: string, values: object = {}): object {
  return { id, prompt: `You are @${id}.`, introduce: false, ...values };
}

function withScript(agent: AgentDefinition): AgentDefinition {
  const room = agent.room!;
  return {
    ...agent,
    model: "script",
    room: {
      ...room,
      members: room.members.map((member) => ({ ...member, agent: { ...member.agent, model: "script" } })),
    },
  };
}

/** What was said in a room, in order: `@name: text`, `(@name passes)`, and notices. */
export function saidIn(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "pass") return [`(@${event.agent} passes)`];
    if (event.type === "notice") return [`! ${event.item.body.code}`];
    if (event.type !== "message" || event.item.step?.includes("/")) return [];
    const text = textOf(event.item.body.content);
    return text === "" ? [] : [`@${event.item.author}: ${text}${event.item.body.partial ? " …" : ""}`];
  });
}
