import { useMe } from "../page/me.ts";
import { Note } from "../parts/note.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { words } from "../words/words.ts";
import type { Answerers } from "../conversation/models-store.ts";
import { talkWords } from "../conversation/talk-words.ts";

type WelcomeProps = {
  /** Another one than the demo. */
  readonly hasModel: boolean;
  /** Asked for by the address, and not there. */
  readonly missingAgent: string | undefined;
  readonly answerers: Answerers;
  readonly onChoose: (text: string, agent: string) => void;
};

/** Before anything is said: what can be tried, and where no model answers, why and what to do. */
export function Welcome({ hasModel, missingAgent, answerers: { agents, looked }, onChoose }: WelcomeProps) {
  const me = useMe();
  const { samples } = talkWords.welcome;
  return (
    <div className="flex flex-col gap-6 pt-[10dvh]">
      <h1 className="text-xl">{words.welcome}</h1>
      {missingAgent !== undefined && <Note>{talkWords.agents.missing(missingAgent)}</Note>}
      <ul className="grid gap-2 sm:grid-cols-2">
        {samples.map(({ title, text, agent }) => (
          <li key={title}>
            <button
              type="button"
              className="sample h-full content-start"
              onClick={() => onChoose(text, agents.some(({ id }) => id === agent) ? agent : "")}
            >
              <span className="font-semibold">{title}</span>
              <span className="text-sm text-muted">{text}</span>
            </button>
          </li>
        ))}
      </ul>
      {!hasModel && <NoModel looked={looked} isAdmin={me?.role === "admin"} />}
      {me?.role === "admin" && (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {words.firstSteps.map(({ text, path }) => (
            <li key={path}>
              <PageLink to={path} look="inline-flex min-h-6 items-center text-accent underline">
                {text}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function NoModel({ looked, isAdmin }: { readonly looked: Answerers["looked"]; readonly isAdmin: boolean }) {
  const said = talkWords.welcome;
  return (
    <section className="grid gap-1 border-l-2 border-warn pl-3 text-sm" aria-label={said.noModel}>
      <h2 className="font-semibold">
        <Note>{said.noModel}</Note>
      </h2>
      <p className="text-muted">{said.noModelText}</p>
      {looked.length > 0 && (
        <>
          <p className="text-muted">{said.looked}</p>
          <ul className="grid gap-x-3 text-muted sm:grid-cols-[auto_1fr]">
            {looked.map(({ kind, url, outcome, detail }) => (
              <li key={kind} className="contents">
                <span>{names[kind] ?? kind}</span>
                <span className="min-w-0 break-words" title={detail}>
                  {said.outcomes[outcome] ?? outcome}
                  {url !== undefined && ` (${url})`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {!isAdmin && <p>{said.askAdmin}</p>}
    </section>
  );
}

const names: Readonly<Record<string, string>> = { ollama: "Ollama", llamacpp: "llama.cpp", lmstudio: "LM Studio" };
