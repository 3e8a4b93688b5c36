import { createClient } from "./client/client.ts";
import { connect } from "./cli-connect.ts";
import { loadConfig } from "./config.ts";
import { version } from "./main.ts";
import { NotFound } from "./protocol/errors.ts";
import { findPlace } from "./tui/place.ts";
import { startChat } from "./tui/start-chat.ts";

export type ChatCommandOptions = {
  readonly name?: string;
  readonly thread?: string;
  readonly plain: boolean;
  readonly json: boolean;
};

/** Talks with an agent or in a room, with the running server or one that lives as long as the chat. */
export async function chat({ name, thread, plain, json }: ChatCommandOptions): Promise<number> {
  const { server, close } = await connect(loadConfig(), { works: true, logFile: "chat.log" });
  const client = createClient(server);
  try {
    const found = await findPlace(client, name);
    if (!found) throw new NotFound(`There is no room and no agent "${name}".`, { code: "agent_not_found" });
    const place = thread === undefined ? found : await found.resume(thread);
    return await startChat(client, { place, version, plain, json });
  } finally {
    await close();
  }
}
