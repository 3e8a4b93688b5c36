type Body = {
  readonly tools?: readonly object[];
  readonly system?: string | undefined;
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
};

const mark = { cache_control: { type: "ephemeral" } } as const;

/**
 * Marks how far the prompt will be the same at the next request: tools and instructions, and the conversation up to here. Only
 * where there are tools, since then more requests follow, and writing the cache costs more than it saves for one.
 */
export function withCacheMarks<Whole extends Body>(body: Whole): object {
  const { tools = [], system, messages } = body;
  const last = messages.at(-1);
  return {
    ...body,
    ...(system === undefined ? { tools: marked(tools) } : { system: [{ type: "text", text: system, ...mark }] }),
    messages: last ? [...messages.slice(0, -1), { ...last, content: marked(last.content) }] : messages,
  };
}

function marked(blocks: readonly object[]): readonly object[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), { ...last, ...mark }] : blocks;
}
