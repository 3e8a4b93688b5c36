import { useState } from "react";
import { t } from "@lingui/core/macro";
import { useQuery } from "../page/path.ts";
import { State } from "../parts/state.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { useAnswer } from "../parts/answers.ts";
import { time } from "../parts/format.ts";
import { taiga, setLogin, useLogin } from "./login.ts";
import { ProposalForm } from "./proposal-form.tsx";
import { ProposedRun } from "./proposed-run.tsx";
import { SignIn } from "./sign-in.tsx";
import "./taiga.css";
import { statusNames } from "./taiga-names.ts";

/** Minutes become stories and tasks of a sprint; `?run=` is one such proposal. */
export function TaigaView() {
  const run = useQuery().get("run");
  const offer = useAnswer(["taiga"], (signal) => taiga.describe(signal));
  return (
    <div className="taiga-view">
      <div className="taiga-column">
        {run !== null ? (
          <ProposedRun key={run} id={run} />
        ) : !offer.data ? (
          <Waiting of={offer} />
        ) : offer.data.configured ? (
          <Start needsToken={offer.data.needsToken} />
        ) : (
          <NotConfigured />
        )}
      </div>
    </div>
  );
}

function NotConfigured() {
  return (
    <>
      <h1 className="text-lg font-semibold">{t`Taiga`}</h1>
      <p>{t`No Taiga server is connected.`}</p>
      <p className="text-sm text-muted">{t`To connect one, add it to colloquy.yaml and restart the server:`}</p>
      <pre className="taiga-code" tabIndex={0}>
        taiga:{"\n"}
        {"  "}url: https://taiga.example.com
      </pre>
    </>
  );
}

function Start({ needsToken }: { readonly needsToken: boolean }) {
  const { login } = useLogin();
  const [wantsOwn, setWantsOwn] = useState(false);
  return (
    <>
      <header>
        <h1 className="text-lg font-semibold">{t`Taiga`}</h1>
        <p className="text-sm text-muted">{t`Turn minutes into user stories and tasks of a sprint. You review everything before it is created.`}</p>
      </header>
      {(needsToken || wantsOwn) && login === undefined ? (
        <SignIn />
      ) : (
        <>
          <Account onOwn={() => setWantsOwn(true)} />
          <ProposalForm />
        </>
      )}
      <Recent />
    </>
  );
}

function Account({ onOwn }: { readonly onOwn: () => void }) {
  const { login } = useLogin();
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
      {login === undefined
        ? t`You are using this server's own Taiga login.`
        : login.name === undefined
          ? t`Signed in to Taiga with a token`
          : t`Signed in to Taiga as ${{ name: login.name }}`}
      <button type="button" className="button" onClick={() => (login ? setLogin(undefined) : onOwn())}>
        {login ? t`Sign out` : t`Sign in as yourself`}
      </button>
    </p>
  );
}

const grades = {
  done: "ok",
  failed: "bad",
  waiting: "warn",
  running: "quiet",
  queued: "quiet",
  cancelled: "quiet",
} as const;

function Recent() {
  const runs = useAnswer(["runs", "taiga"], (signal) => taiga.runs(signal));
  if (!runs.data || runs.data.data.length === 0) return null;
  return (
    <section aria-labelledby="recent" className="grid gap-1">
      <h2 id="recent" className="text-sm font-semibold">
        {t`Recent proposals`}
      </h2>
      <ul>
        {runs.data.data.map(({ id, title, status, createdAt }) => (
          <li key={id} className="taiga-recent">
            <PageLink to={`/taiga?run=${id}`} look="min-w-0 grow text-accent">
              {title}
            </PageLink>
            <span className="text-sm text-muted">{time(createdAt)}</span>
            <span className="text-sm">
              <State grade={grades[status]}>{statusNames[status]}</State>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
