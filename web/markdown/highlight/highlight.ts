import { useEffect, useState } from "react";
import type { CodeLine, HighlightedCode, HighlightInput } from "./coloured-code.ts";

/** What takes longer stays without colours: some code makes what finds words in it run for ever. */
const patienceMs = 10_000;
const longest = 500_000;
const plain = new Set(["", "mermaid", "text", "txt"]);

type HighlightJob = HighlightInput & { readonly take: (lines: readonly CodeLine[] | undefined) => void };

let worker: Worker | undefined;
let count = 0;
/** The first of them is at work. */
let wanted: readonly HighlightJob[] = [];
let late: ReturnType<typeof setTimeout> | undefined;

/** The lines of code with their colours; undefined until they are there, and where there are none. */
export function useHighlighted(language: string, text: string): readonly CodeLine[] | undefined {
  const [done, setDone] = useState<{ readonly text: string; readonly lines: readonly CodeLine[] | undefined }>();
  useEffect(() => {
    if (plain.has(language) || text.length > longest) return undefined;
    const mine: HighlightJob = { id: ++count, language, text, take: (lines) => setDone({ text, lines }) };
    wanted = [...wanted, mine];
    if (wanted.length === 1) begin();
    return () => {
      // The one at work is waited for: another one can't begin before.
      wanted = wanted.filter((each, at) => at === 0 || each !== mine);
    };
  }, [language, text]);
  return done?.text === text ? done.lines : undefined;
}

function begin(): void {
  const [first] = wanted;
  if (!first) return;
  worker ??= openWorker();
  late = setTimeout(giveUp, patienceMs);
  const { id, language, text } = first;
  worker.postMessage({ id, language, text } satisfies HighlightInput);
}

function end(lines: readonly CodeLine[] | undefined): void {
  clearTimeout(late);
  const [first, ...others] = wanted;
  wanted = others;
  first?.take(lines);
  begin();
}

function giveUp(): void {
  worker?.terminate();
  worker = undefined;
  end(undefined);
}

function openWorker(): Worker {
  // One literal: what builds the page looks for just that.
  const opened = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  opened.addEventListener("message", ({ data }: MessageEvent<HighlightedCode>) => end(data.lines));
  opened.addEventListener("error", giveUp);
  return opened;
}
