import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type EnteredCode, enteredBy, inEach } from "./entered-code.ts";
import { startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

/** What one warm request enters: a streamed message to an agent, and one that is passed straight to a model. */
export type MessagePaths = { readonly chat: EnteredCode; readonly passThrough: EnteredCode };

export async function messagePaths(): Promise<MessagePaths> {
  const models = await startModelServer();
  models.always({ text: ["It ", "is ", "noon."] });
  const cwd = temporaryFolder("path");
  writeFileSync(
    join(cwd, "colloquy.yaml"),
    JSON.stringify({
      models: [{ id: "default", provider: "openai", baseUrl: `${models.url}/v1`, model: "m", apiKey: "k" }],
      // A file for each conversation is written half a second later, beside the path.
      sessions: { mirror: false },
    }),
  );
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  const colloquy = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  const ask = async (model: string) => {
    const response = await fetch(`${colloquy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "What time is it?" }] }),
    });
    const text = await response.text();
    if (!text.includes("noon.") || !text.endsWith("[DONE]\n\n")) throw new Error(text);
  };
  try {
    const pathOf = async (model: string) => {
      for (let warm = 0; warm < 3; warm++) await ask(model);
      const entered: EnteredCode[] = [];
      for (let time = 0; time < 3; time++) entered.push(await enteredBy(() => ask(model)));
      return inEach(entered);
    };
    return { chat: await pathOf("assistant"), passThrough: await pathOf("default") };
  } finally {
    await colloquy.stop();
    await models.close();
  }
}
