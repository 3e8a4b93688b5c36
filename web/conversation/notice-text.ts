import { plural, t } from "@lingui/core/macro";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { NoticeValues } from "../../src/protocol/threads/items.ts";
import { language } from "../browser/language.ts";
import { listed } from "../parts/format.ts";

type Notice = Pick<BlockOf<"notice">, "text" | "code" | "values">;
type NoticeSentence = (values: NoticeValues) => string;

/** By the code of a notice, with its values. */
const said: Readonly<Record<string, NoticeSentence>> = {
  room_turns: ({ count, uncalled }) =>
    stopped(
      plural(
        { count: Number(count) },
        {
          one: "The agents have had # turn since your message.",
          other: "The agents have had # turns since your message.",
        },
      ),
      uncalled,
    ),
  room_pair: ({ count, uncalled }) =>
    stopped(
      plural(
        { count: Number(count) },
        {
          one: "The same two agents have had the last turn between them.",
          other: "The same two agents have had the last # turns between them.",
        },
      ),
      uncalled,
    ),
  room_repeats: ({ count, uncalled }) =>
    stopped(
      plural(
        { count: Number(count) },
        {
          one: "An agent has said the same more than once.",
          other: "An agent has said the same more than # times.",
        },
      ),
      uncalled,
    ),
  unknown_mention: ({ names, members }) =>
    t`Nobody here is called ${{ names: handles(names) }}. There are ${{ members: handles(members) }}.`,
  nobody_called: ({ members }) =>
    t`No agent was mentioned, and all agents here respond only when mentioned. Start with: ${{ members: handles(members) }}.`,
  write_done: ({ tool, said: more = "" }) =>
    withMore(t`The outcome of ${{ tool: String(tool) }} was unknown when its run ended; it was done.`, more),
  write_failed: ({ tool, said: more = "" }) =>
    withMore(t`The outcome of ${{ tool: String(tool) }} was unknown when its run ended; it was not done.`, more),
  tools_awaited: ({ servers }) => t`Waiting for MCP servers: ${{ servers: listed(many(servers)) }}`,
  tools_missing: ({ server, reason }) =>
    withMore(t`The tools of ${{ server: String(server) }} are missing in this run.`, `(${String(reason)})`),
  not_summarised: ({ fault }) =>
    withMore(
      t`The older part of this conversation could not be summarized. The model does not see all of it.`,
      `(${String(fault)})`,
    ),
  prompt_shortened: ({ model, tokens, shortened }) => {
    const whose = t`${{ model: String(model) }} (${{ tokens: Number(tokens) }} tokens)`;
    if (shortened === "input")
      return t`The message is too long for ${{ model: whose }}, which sees only its beginning and end.`;
    return t`Older tool results are too long for ${{ model: whose }}, which sees only their beginning and end.`;
  },
  tools_deferred: ({ model, count }) =>
    plural(
      { count: Number(count) },
      {
        one: `# tool doesn't fit into the context window of ${{ model: String(model) }}, which searches for the ones it needs.`,
        other: `# tools don't fit into the context window of ${{ model: String(model) }}, which searches for the ones it needs.`,
      },
    ),
};

/** What the server tells in a conversation is English: other readers have it in their own words, where this page knows them. */
export function noticeText({ text, code = "", values }: Notice): string {
  if (language === "en" || values === undefined || !Object.hasOwn(said, code)) return text;
  return said[code]!(values);
}

function stopped(why: string, uncalled: NoticeValues[string] | undefined): string {
  const how = t`They were stopped. Write “${{ word: "continue" }}” to let them continue.`;
  const names = many(uncalled);
  if (names.length === 0) return `${why} ${how}`;
  return `${why} ${how} ${t`Mentioned, but without a turn so far: ${{ names: handles(names) }}.`}`;
}

const many = (value: NoticeValues[string] | undefined) => (Array.isArray(value) ? value.map(String) : []);
const handles = (value: NoticeValues[string] | undefined) => listed(many(value).map((name) => `@${name}`));
const withMore = (text: string, more: NoticeValues[string]) => `${text} ${String(more)}`.trim();
