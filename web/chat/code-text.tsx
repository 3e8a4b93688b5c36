import { Formatted } from "./formatted.tsx";

/** Text in a language, with its words coloured. */
export function CodeText({ text, language }: { readonly text: string; readonly language: string }) {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([marks]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return <Formatted text={`${fence}${language}\n${text}\n${fence}`} />;
}
