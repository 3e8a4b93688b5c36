import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { asker } from "./accounts.ts";
import type { Place } from "./databases.ts";

export type Problem = { readonly path: string; readonly message: string };
export type View = {
  readonly id: string;
  readonly source: string;
  readonly where: string | null;
  readonly readOnly: boolean;
  readonly state: string;
  readonly problems: readonly Problem[];
  readonly revision: string;
  readonly createdBy: string | null;
  readonly changedBy: string | null;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
};
export type Refusal = {
  readonly error: { readonly code: string; readonly message: string; readonly problems?: Problem[] };
};
export type List = { readonly data: readonly View[] };

/** A node with the configuration of the folder. */
export function startDefining(place: Place, folder: string): Promise<Colloquy> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: place.dataDirectory,
    ...(place.url !== undefined && { DATABASE_URL: place.url }),
    COLLOQUY_SECRET: "a secret of these tests",
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
  };
  return startColloquy(loadConfig({ env, cwd: folder }), { log: silentLog });
}

/** A configuration with the model `filed`. */
export function writeDefinitionsFile(
  folder: string,
  { url, key }: { readonly url: string; readonly key: string },
  more: string,
): void {
  writeFileSync(
    join(folder, "colloquy.yaml"),
    `models:\n  - { id: filed, provider: openai, baseUrl: "${url}/v1", model: served, apiKey: ${key} }\n` +
      `mcpServers:\n  mcp_filesystem: { disabled: true }\n  mcp_trader: { disabled: true }\n${more}`,
  );
}

/** The agent `filed_agent` and the room `a_room`. */
export function writeAgentAndRoom(folder: string): void {
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "agents", "filed_agent.md"), "---\nmodel: filed\n---\nBe brief.\n");
  mkdirSync(join(folder, "rooms"));
  writeFileSync(join(folder, "rooms", "a_room.yaml"), "members:\n  - { id: one, model: filed }\n");
}

/** What a model says when it is asked straight. */
export async function askModel(url: string, model: string): Promise<{ status: number; text: string | undefined }> {
  type Answer = { choices?: { message: { content: string } }[] };
  const body = { model, messages: [{ role: "user", content: "hi" }] };
  const answer = await asker(url)<Answer>("POST", "/v1/chat/completions", { body });
  return { status: answer.status, text: answer.body.choices?.[0]?.message.content };
}
