/** What a protocol answered, in words that all have. */
export type ToolReply = {
  readonly status: number;
  readonly text: string;
  /** Ids of the calls of the client's tools. */
  readonly calls: readonly string[];
  readonly error: string;
  readonly headers: Headers;
  readonly body: Told;
};

type Fields = Readonly<Record<string, unknown>>;
type ResultTexts = Readonly<Record<string, string>>;

/** A conversation in which the client has the tool `look`; what was not answered is no part of it. */
export type ToolConversation = {
  say(content: string, more?: Fields): Promise<ToolReply>;
  /** Results by the ids of their calls, with what is said besides. */
  bring(results: ResultTexts, said?: string, more?: Fields): Promise<ToolReply>;
};

/** What of their answers is read here; all of it is missing in others. */
type Told = {
  readonly id?: string;
  readonly error?: string | { readonly message?: string };
  readonly output?: readonly OutputItem[];
  readonly choices?: readonly { readonly message: ChatMessage }[];
  readonly content?: readonly Block[];
  readonly message?: ChatMessage;
  readonly temperature?: number;
  readonly instructions?: string | null;
  readonly metadata?: Fields;
};
type OutputItem = {
  readonly type: string;
  readonly call_id?: string;
  readonly content?: readonly { readonly text?: string }[];
};
type ChatMessage = { readonly content: string | null; readonly tool_calls?: readonly { readonly id: string }[] };
type Block = { readonly type: string; readonly id?: string; readonly text?: string };

const parameters = { type: "object", properties: { at: { type: "string" } } };
const tool = { name: "look", description: "Looks.", parameters };
const functions = [{ type: "function", function: tool }];

async function post(url: string, body: Fields, session?: string) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(session !== undefined && { "x-session-id": session }) },
    body: JSON.stringify(body),
    // One that hangs fails its own test only.
    signal: AbortSignal.timeout(20_000),
  });
  const told = (await answer.json()) as Told;
  const { error } = told;
  return {
    status: answer.status,
    error: typeof error === "string" ? error : (error?.message ?? ""),
    headers: answer.headers,
    body: told,
  };
}

type Place = "conversation" | "response";

async function responses(url: string, model: string, place: Place): Promise<ToolConversation> {
  const conversation = place === "conversation" ? (await post(`${url}/v1/conversations`, {})).body.id : undefined;
  let previous: string | undefined;
  const ask = async (input: readonly Fields[], more: Fields = {}): Promise<ToolReply> => {
    const where = conversation === undefined ? { previous_response_id: previous } : { conversation };
    const body = { model, tools: [{ type: "function", ...tool }], input, ...where, ...more };
    const reply = await post(`${url}/v1/responses`, body);
    const { id, output = [] } = reply.body;
    if (reply.status === 200) previous = id;
    return {
      ...reply,
      text: output.flatMap(({ content = [] }) => content.map(({ text }) => text ?? "")).join(""),
      calls: output.flatMap(({ type, call_id: call = "" }) => (type === "function_call" ? [call] : [])),
    };
  };
  const message = (content: string) => ({ role: "user", content });
  return {
    say: (content, more) => ask([message(content)], more),
    bring: (results, said, more) => {
      const outputs = Object.entries(results).map(([id, output]) => ({
        ...{ type: "function_call_output", call_id: id, output },
      }));
      return ask([...outputs, ...(said === undefined ? [] : [message(said)])], more);
    },
  };
}

/** Chat Completions and Ollama's chat: the client sends all that was said; in a session a text is sent alone. */
function chat(url: string, { path, session }: { path: string; session?: string }): ToolConversation {
  let said: readonly object[] = [];
  const ask = async (before: readonly object[], added: readonly object[], more: Fields = {}): Promise<ToolReply> => {
    const messages = [...before, ...added];
    const body = { model: "assistant", stream: false, tools: functions, messages, ...more };
    const reply = await post(url + path, body, session);
    const message = reply.body.choices?.[0]?.message ?? reply.body.message;
    if (message) said = [...messages, message];
    return { ...reply, text: message?.content ?? "", calls: (message?.tool_calls ?? []).map(({ id }) => id) };
  };
  const user = (content: string) => ({ role: "user", content });
  return {
    say: (content, more) => ask(session === undefined ? said : [], [user(content)], more),
    bring: (results, text, more) => {
      const brought = Object.entries(results).map(([id, content]) => ({ role: "tool", tool_call_id: id, content }));
      return ask(said, [...brought, ...(text === undefined ? [] : [user(text)])], more);
    },
  };
}

type MessagesPlace = { readonly model: string; readonly isThread?: true; readonly session?: string };

function messages(url: string, { model, isThread, session }: MessagesPlace): ToolConversation {
  let said: readonly object[] = [];
  let previous: string | undefined;
  const ask = async (before: readonly object[], content: readonly object[] | string, more: Fields = {}) => {
    const added = { role: "user", content };
    const tools = previous === undefined ? [{ name: tool.name, input_schema: parameters }] : undefined;
    const thread = previous === undefined ? { type: "create" } : { type: "continue", previous_message_id: previous };
    const where = isThread ? { messages: [added], thread, tools } : { messages: [...before, added], tools };
    const reply = await post(`${url}/v1/messages`, { model, max_tokens: 100, ...where, ...more }, session);
    const { id, content: blocks } = reply.body;
    if (blocks) said = [...before, added, { role: "assistant", content: blocks }];
    if (blocks && isThread) previous = id;
    const texts = blocks?.map(({ text }) => text ?? "") ?? [];
    const calls = blocks?.flatMap((block) => (block.type === "tool_use" ? [block.id ?? ""] : [])) ?? [];
    return { ...reply, text: texts.join(""), calls };
  };
  return {
    say: (content, more) => ask(session === undefined ? said : [], content, more),
    bring: (results, text, more) => {
      const brought = Object.entries(results).map(([id, content]) => ({
        ...{ type: "tool_result", tool_use_id: id, content },
      }));
      return ask(said, [...brought, ...(text === undefined ? [] : [{ type: "text", text }])], more);
    },
  };
}

const newSession = () => crypto.randomUUID().slice(0, 18);

type Begin = (url: string) => ToolConversation | Promise<ToolConversation>;

/** Those that the server keeps by a name: a text can come in beside what the last answer waits for. */
export const keptConversations: Readonly<Record<string, Begin>> = {
  "a conversation of Responses, with an agent": (url) => responses(url, "assistant", "conversation"),
  "a conversation of Responses, with a model": (url) => responses(url, "script", "conversation"),
  "a session of Chat Completions": (url) => chat(url, { path: "/v1/chat/completions", session: newSession() }),
  "a session of Ollama's chat": (url) => chat(url, { path: "/api/chat", session: newSession() }),
  "a session of Messages": (url) => messages(url, { model: "assistant", session: newSession() }),
};

/** Each way to hold a conversation with tools of one's own. */
export const toolConversations: Readonly<Record<string, Begin>> = {
  ...keptConversations,
  "Responses, with an agent": (url) => responses(url, "assistant", "response"),
  "Responses, with a model": (url) => responses(url, "script", "response"),
  "Chat Completions": (url) => chat(url, { path: "/v1/chat/completions" }),
  "Ollama's chat": (url) => chat(url, { path: "/api/chat" }),
  Messages: (url) => messages(url, { model: "assistant" }),
  "a thread of Messages, with an agent": (url) => messages(url, { model: "assistant", isThread: true }),
  "a thread of Messages, with a model": (url) => messages(url, { model: "script", isThread: true }),
};
