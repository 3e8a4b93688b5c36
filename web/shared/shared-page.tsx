import { useEffect } from "react";
import { textOf } from "../../src/protocol/threads/items.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { Speaker } from "../turn/speaker.tsx";
import { Formatted } from "../markdown/formatted.tsx";
import { talkWords } from "../conversation/talk-words.ts";
import { time } from "../parts/format.ts";
import { useLoaded } from "../parts/use-loaded.ts";
import { Waiting } from "../parts/waiting.tsx";
import { threadClient } from "../threads/thread-client.ts";
import { words } from "../words/words.ts";

/** What a link shows, to whoever has it: no account, nothing to change. */
export function SharedPage({ token }: { readonly token: string }) {
  const loaded = useLoaded(token, async (signal) => {
    try {
      return await threadClient.readShared(token, signal);
    } catch (error) {
      if (error instanceof ColloquyError && error.status === 404) return "gone" as const;
      throw error;
    }
  });
  const { data } = loaded;
  const title = data === "gone" ? undefined : data?.title;
  useEffect(() => {
    document.title = title === undefined ? "Colloquy" : `${title} – Colloquy`;
  }, [title]);
  if (!data)
    return (
      <main className="p-6">
        <Waiting of={loaded} />
      </main>
    );
  if (data === "gone")
    return (
      <main className="mx-auto max-w-[46rem] px-4 py-16">
        <h1 className="text-lg font-semibold">Colloquy</h1>
        <p>{talkWords.shared.gone}</p>
      </main>
    );
  return (
    <main className="mx-auto flex min-h-full max-w-[46rem] flex-col gap-6 px-4 py-8">
      <header>
        <h1 dir="auto" className="text-xl">
          {data.title === "" ? talkWords.shared.noTitle : data.title}
        </h1>
        <p className="text-sm text-muted">{talkWords.shared.note(time(data.sharedAt))}</p>
      </header>
      {data.messages.length === 0 && <p className="text-muted">{talkWords.shared.empty}</p>}
      {data.messages.map(({ role, author, content }, at) => (
        <article key={at} className="turn" {...(role === "assistant" && { "data-speaker": 0 })}>
          <Speaker name={role === "assistant" ? `@${author ?? "agent"}` : (author ?? words.you)} />
          {role === "assistant" ? (
            <Formatted text={textOf(content)} />
          ) : (
            <div dir="auto" className="whitespace-pre-wrap">
              {textOf(content)}
            </div>
          )}
        </article>
      ))}
    </main>
  );
}
