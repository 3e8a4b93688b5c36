/**
 * A pattern that grows faster than the text it reads, which is short: where that is seen to, and what the worst text of that length took.
 * Of a long pattern the beginning, with a `…` behind it.
 */
export type Bounded = { readonly file: string; readonly pattern: string; readonly because: string };

export const bounded: readonly Bounded[] = [
  {
    file: "src/models/demo/tool-calls.ts",
    pattern: String.raw`/"([^"]+)"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)/g`,
    because: "a sentence has at most 2,000 characters (longestSentence in next-step.ts): 6 ms",
  },
  {
    file: "src/run/log/citations.ts",
    pattern: String.raw`/(?:\s*\[?(?:…|\.{3,})\]?)+\s*/`,
    because: "a quotation has at most 1,000 characters (longestQuote in citations.ts): 3 ms",
  },
  {
    file: "src/run/strategies/auto-phrases.ts",
    pattern: String.raw`/[\d!)]\s*[*×÷^/]\s*\(*\d{1,12}…`,
    because: "a request is cut to 4,003 characters, with one blank at a time (shortened in auto-rules.ts): 3 ms",
  },
  {
    file: "src/run/verbs/start-run.ts",
    pattern: String.raw`/\s+\S*$/`,
    because: "of a title the first 80 characters (titleOf in start-run.ts): below 1 ms",
  },
  {
    file: "src/run/text/conversation-title.ts",
    pattern: String.raw`/\s+\S*$/`,
    because: "of a title the first 60 characters (longest in conversation-title.ts): below 1 ms",
  },
  {
    file: "web/vite.config.ts",
    pattern: String.raw`/ *<link rel="stylesheet"[^>]*>\n/g`,
    because: "it reads the page that we build, when it is built",
  },
];

/** `new RegExp`, by its first argument: texts as it makes them, which are judged, or why nothing is to be judged. */
export type Made =
  | { readonly file: string; readonly written: string; readonly as: readonly string[]; readonly flags?: string }
  | { readonly file: string; readonly written: string; readonly because: string };

export const made: readonly Made[] = [
  ...["src/models/providers/anthropic.ts", "src/models/providers/openai.ts"].map((file) => ({
    file,
    written: "`(?<![\\\\w-])${field}(?![\\\\w-])`",
    as: [String.raw`(?<![\w-])stream_options(?![\w-])`],
  })),
  {
    file: "src/run/log/citations.ts",
    written: '`[“"„«]([^“”"„«»]{${shortestQuote},${longestQuote}})…',
    because: "it reads at most 1,050 characters before a mark (longestQuote in citations.ts): below 1 ms",
  },
  {
    file: "src/run/strategies/auto-patterns.ts",
    written: "sourceOf(phrases)",
    because:
      "words with at most 60 characters between them; a request is cut to 4,003 (shortened in auto-rules.ts): 10 ms",
  },
  {
    file: "src/run/strategies/auto-rules.ts",
    written: "`[\\\\n,.;:!?。，；：！？、]|…",
    because:
      "words with at most 60 characters between them; a request is cut to 4,003 (shortened in auto-rules.ts): 10 ms",
  },
  {
    file: "src/run/strategies/auto.ts",
    written: "`(?<![\\\\w-])${name}(?![\\\\w-])`",
    as: [String.raw`(?<![\w-])plan-execute(?![\w-])`],
    flags: "i",
  },
  {
    file: "src/run/strategies/react-sections.ts",
    written: "`^${decoration}[ \\\\t]{0,4}(?:${name})${number}…",
    as: [
      "[ \\t>]{0,12}(?:[-*+•][ \\t]+|#{1,6}[ \\t]+|\\d+[.)][ \\t]+)?[*_`]{0,3}[ \\t]{0,4}(?:(?:action|tool)[ _-]?\\d*[ _-]?input|actioninput)(?:[ \\t]*(?:#\\d*|\\d+))?[*_`]{0,3}[ \\t]*[:：][*_`]{0,3}[ \\t]*",
    ].map((label) => `^${label}`),
  },
  {
    file: "src/run/text/heard-text.ts",
    written: "`<(/?)(?:${thought})>|<tool_calls?>|…",
    because: "nothing in it repeats without end: 30 characters for each place",
  },
  { file: "src/run/text/heard-text.ts", written: "`</(?:${thought})>`", as: ["</(?:think|thinking)>"] },
  ...["source", "source"].map((written) => ({
    file: "src/run/text/json-schema.ts",
    written,
    because: "of a schema that somebody sent: the check is stopped by its time (inTime in json-schema.ts)",
  })),
  {
    file: "src/run/text/visible-text.ts",
    written: "`(?<=^|\\\\n)[ \\\\t]*<${tag}>`",
    as: [String.raw`(?<=^|\n)[ \t]*<(think|thinking|thought|reasoning)>`],
  },
  { file: "src/run/text/visible-text.ts", written: "`</${tag}>`", as: ["</(think|thinking)>"] },
  { file: "src/run/text/visible-text.ts", written: "`^\\\\s*<${tag}>`", as: [String.raw`^\s*<(think|thinking)>`] },
  { file: "src/run/text/visible-text.ts", written: "`</${name}>`", as: ["</think>"] },
  {
    file: "src/sandbox/drivers/docker/trial.ts",
    written: "`^${name}:\\\\s*(\\\\w+)`",
    as: [String.raw`^Seccomp:\s*(\w+)`],
    flags: "m",
  },
  ...[
    ["src/tools/files/search-lines-worker.ts", "workerData.source"],
    ["src/tools/files/search-lines.ts", "isRegex ? text : text.replaceAll(…"],
  ].map(([file = "", written = ""]) => ({
    file,
    written,
    because: "what a model searches for runs in a thread that is stopped (find in search-lines.ts)",
  })),
  { file: "web/markdown/markdown-blocks.ts", written: "end.replaceAll(…", as: [String.raw`\$\$`] },
  {
    file: "web/markdown/markdown-blocks.ts",
    written: "`^\\\\s*\\\\${marks[0]!}{${marks.length},}\\\\s*$`",
    as: ["^\\s*\\`{3,}\\s*$"],
  },
  {
    file: "web/markdown/markdown-blocks.ts",
    written: "`^\\\\s{0,${fence.indent.length}}(?=[^\\n])`",
    as: [String.raw`^\s{0,3}(?=[^\n])`],
  },
  { file: "web/threads/search-matches.ts", written: '`(${quoted.join("|")})`', as: ["(first|other)"], flags: "iu" },
  {
    file: "web/turn/file-preview.tsx",
    written: '`("(?:[^"]|"")*"|[^${parted}\\\\r\\\\n]*)(${parted}|\\\\r?\\\\n|$)`',
    as: [String.raw`("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)`],
    flags: "y",
  },
];
