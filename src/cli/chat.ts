import { createClient } from "../client/client.ts";
import { brokenPipe, outputClosed } from "./closed-pipe.ts";
import { connect } from "./connect.ts";
import { loadConfig } from "../config/load.ts";
import { NotFound } from "../protocol/base/errors.ts";
import { version } from "../protocol/base/version.ts";
import { findPlace } from "../tui/chat-place.ts";
import { startChat } from "../tui/start-chat.ts";

export type ChatCommandOptions = {
  readonly name?: string;
  readonly thread?: string;
  readonly plain: boolean;
  readonly json: boolean;
};

/** Talks with an agent or in a room, with the running server or one that lives as long as the chat. */
export async function chat({ name, thread, plain, json }: ChatCommandOptions): Promise<number> {
  const { server, isOwn, close } = await connect(loadConfig(), { runsJobs: true, logFile: "chat.log" });
  const client = createClient(server);
  try {
    const found = await findPlace(client, name);
    if (!found) throw new NotFound(`No room or agent is called "${name}".`, { code: "agent_not_found" });
    const place = thread === undefined ? found : await found.resume(thread);
    // Of a server that was started here the work would end with the chat.
    const code = await startChat(client, { place, version, plain, json, ...(isOwn ? {} : { gone: outputClosed }) });
    return outputClosed.aborted && !isOwn ? brokenPipe : code;
  } finally {
    await close();
  }
}
