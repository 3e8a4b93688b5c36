import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, describe } from "node:test";
import { installed } from "../programs/install.ts";
import { type Connect, startProving } from "./prove.ts";

/** Here is what is used of it: with all its parts it is 90 MB, and is installed on demand. */
type Message = { readonly text: string; readonly tool_calls?: readonly { readonly args: object }[] };
type Chat = {
  stream(prompt: string): Promise<AsyncIterable<Message>>;
  invoke(prompt: string | readonly unknown[]): Promise<Message>;
  bindTools(tools: readonly unknown[]): Chat;
};
type Add = { readonly invoke: (call: object) => Promise<unknown> };
type AddNumbers = (numbers: { a: number; b: number }) => string;
type Core = { readonly tool: (run: AddNumbers, about: object) => Add };
type Made = new (options: object) => Chat;

const { folder, skip } = installed({ name: "langchain", lockedIn: join(import.meta.dirname, "langchain") });
const need = createRequire(join(folder, "package.json"));
const part = <Exports>(name: string) => need(`@langchain/${name}`) as Exports;

const number = { type: "number" };
const about = {
  ...{ name: "add", description: "Adds two numbers" },
  schema: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
};

const connectBy =
  (create: (model: string, url: string) => Chat): Connect =>
  (url) => ({
    async stream(model, prompt) {
      const pieces: string[] = [];
      for await (const { text } of await create(model, url).stream(prompt)) if (text) pieces.push(text);
      return pieces;
    },
    async withTool(model, prompt, add) {
      const tool = part<Core>("core/tools").tool(add, about);
      const chat = create(model, url).bindTools([tool]);
      const first = await chat.invoke(prompt);
      const [call] = first.tool_calls ?? [];
      assert.ok(call);
      return (await chat.invoke([["user", prompt], first, await tool.invoke(call)])).text;
    },
    ask: async (model, prompt) => (await create(model, url).invoke(prompt)).text,
  });

const ollama = connectBy((model, url) => {
  const { ChatOllama } = part<{ readonly ChatOllama: Made }>("ollama");
  return new ChatOllama({ model, baseUrl: url });
});
const providers: Readonly<Record<string, Connect>> = {
  ChatOpenAI: connectBy((model, url) => {
    const { ChatOpenAI } = part<{ readonly ChatOpenAI: Made }>("openai");
    return new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL: `${url}/v1` } });
  }),
  ChatAnthropic: connectBy((model, url) => {
    const { ChatAnthropic } = part<{ readonly ChatAnthropic: Made }>("anthropic");
    return new ChatAnthropic({ model, apiKey: "none", anthropicApiUrl: url });
  }),
  ChatOllama: (url) => ({ ...ollama(url), triesOnce: true }),
};

describe("LangChain", { skip }, async () => {
  const { prove, close } = await startProving();
  after(close);
  for (const [name, connect] of Object.entries(providers))
    prove("LangChain: `@langchain/openai`, `…/anthropic`, `…/ollama`", connect, name);
});
