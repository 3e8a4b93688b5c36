import { useEffect } from "react";
import { t } from "@lingui/core/macro";
import { textOf } from "../../src/protocol/threads/items.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { Speaker } from "../turn/speaker.tsx";
import { Formatted } from "../markdown/formatted.tsx";
import { time } from "../parts/format.ts";
import { useAnswer } from "../parts/answers.ts";
import { Waiting } from "../parts/waiting.tsx";
import { threadClient } from "../threads/thread-client.ts";

/** What a link shows, to whoever has it: no account, nothing to change. */
export function SharedPage({ token }: { readonly token: string }) {
  const loaded = useAnswer(["shared", token], async (signal) => {
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
        <p>{t`Link not found. It was revoked or has expired.`}</p>
      </main>
    );
  return (
    <main className="mx-auto flex min-h-full max-w-[46rem] flex-col gap-6 px-4 py-8">
      <header>
        <h1 dir="auto" className="text-xl">
          {data.title === "" ? t`Conversation` : data.title}
        </h1>
        <p className="text-sm text-muted">{t`Shared on ${{ when: time(data.sharedAt) }} · Read-only`}</p>
      </header>
      {data.messages.length === 0 && <p className="text-muted">{t`No messages`}</p>}
      {data.messages.map(({ role, author, content }, at) => (
        <article key={at} className="turn" {...(role === "assistant" && { "data-speaker": 0 })}>
          <Speaker name={role === "assistant" ? `@${author ?? "agent"}` : (author ?? t`You`)} />
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
