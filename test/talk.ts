/** `colloquy chat` with the server at a URL: `talk.ts <url> <room or agent> [--plain] [--json]`. */
import { createClient } from "../src/client/client.ts";
import { findPlace } from "../src/tui/chat-place.ts";
import { startChat } from "../src/tui/start-chat.ts";

const [url = "", name = "", ...flags] = process.argv.slice(2);
const client = createClient({ url });
const place = await findPlace(client, name);
if (!place) throw new Error(`Nothing is called ${name}.`);
process.exitCode = await startChat(client, {
  place,
  version: "0.0.1",
  plain: flags.includes("--plain"),
  json: flags.includes("--json"),
});
