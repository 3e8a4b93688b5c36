import { FilePlus, ListTodo, type LucideIcon, Scale, SquareTerminal, Workflow, Wrench } from "lucide-react";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import { t } from "@lingui/core/macro";
import { useMe } from "../page/me.ts";
import { Note } from "../parts/note.tsx";
import { PageLink } from "../parts/page-link.tsx";
import type { Answerers } from "../conversation/models-store.ts";

type SamplePrompt = { title: string; text: string; agent: string; icon: LucideIcon };

const samples: readonly SamplePrompt[] = [
  {
    title: t`Write and run code`,
    text: t`Write a Python script that lists the ten largest files in a folder, and try it`,
    agent: "",
    icon: SquareTerminal,
  },
  {
    title: t`Manage tasks`,
    text: t`Add the tasks for preparing a team meeting next Tuesday`,
    agent: "todo",
    icon: ListTodo,
  },
  {
    title: t`Explain with a diagram`,
    text: t`Explain how a web page is loaded, with a sequence diagram`,
    agent: "",
    icon: Workflow,
  },
  {
    title: t`Weigh options`,
    text: t`Compare three ways to back up a small database, as a table, and recommend one`,
    agent: "",
    icon: Scale,
  },
];

/** What the demo model's rules know. */
const demoSamples: readonly SamplePrompt[] = [
  { title: t`Use tools`, text: "What is 17 * 23?", agent: "", icon: Wrench },
  { title: t`Manage tasks`, text: "Add a task to buy milk", agent: "todo", icon: ListTodo },
  { title: t`Create files`, text: 'Write the file "hello.txt" with "Hello, world"', agent: "", icon: FilePlus },
  { title: t`Multi-step work`, text: "Calculate 12 * 12, then show my tasks", agent: "", icon: Workflow },
];

const firstSteps = [
  { text: t`Connect a model`, path: "/admin/models?new=1&back=chat" },
  { text: t`Create an agent`, path: "/admin/agents?new=1&back=chat" },
  { text: t`Add an MCP server`, path: "/admin/mcp-servers?new=1&back=chat" },
];

const outcomeNames: Readonly<Record<string, string>> = {
  found: t`found`,
  refused: t`nothing is running there`,
  "timed-out": t`timed out`,
  unauthorized: t`API key required`,
  "no-model": t`no models`,
  "not-it": t`something else is running there`,
  "own-port": t`this server itself`,
};

type WelcomeProps = {
  /** Another one than the demo. */
  readonly hasModel: boolean;
  /** In which the conversation is begun. */
  readonly folder: FolderView | undefined;
  /** Asked for by the address, and not there. */
  readonly missingAgent: string | undefined;
  readonly answerers: Answerers;
  readonly onChoose: (text: string, agent: string) => void;
};

/** Before anything is said: what can be tried, and where no model answers, why and what to do. */
export function Welcome({ hasModel, folder, missingAgent, answerers: { agents, looked }, onChoose }: WelcomeProps) {
  const me = useMe();
  return (
    <div className="flex flex-col gap-6 pt-[10dvh]">
      <h1 className="text-xl">{t`What can I help with?`}</h1>
      {folder && <p dir="auto" className="text-sm text-muted">{t`In the folder ${folder.name}`}</p>}
      {missingAgent !== undefined && (
        <Note>{t`Agent @${{ name: missingAgent }} not found. Choose another one below.`}</Note>
      )}
      <ul className="grid gap-2 sm:grid-cols-2">
        {(hasModel ? samples : demoSamples).map(({ title, text, agent, icon: Icon }) => (
          <li key={title}>
            <button
              type="button"
              className="sample h-full content-start"
              onClick={() => onChoose(text, agents.some(({ id }) => id === agent) ? agent : "")}
            >
              <span className="flex items-center gap-2 font-semibold">
                <Icon size={16} aria-hidden className="text-muted" /> {title}
              </span>
              <span dir="auto" className="text-sm text-muted">
                {text}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {!hasModel && <NoModel looked={looked} isAdmin={me?.role === "admin"} />}
      {me?.role === "admin" && (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {firstSteps.map(({ text, path }) => (
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
  return (
    <section className="grid gap-1 border-s-2 border-warn ps-3 text-sm" aria-label={t`No language model connected`}>
      <h2 className="font-semibold">
        <Note>{t`No language model connected`}</Note>
      </h2>
      <p className="text-muted">{t`The demo model follows rules and uses the real tools. Everything else works as usual.`}</p>
      {looked.length > 0 && (
        <>
          <p className="text-muted">{t`Places searched for models on this machine:`}</p>
          <ul className="grid gap-x-3 text-muted sm:grid-cols-[auto_1fr]">
            {looked.map(({ kind, url, outcome, detail }) => (
              <li key={kind} className="contents">
                <span>{names[kind] ?? kind}</span>
                <span className="min-w-0 break-words" title={detail}>
                  {outcomeNames[outcome] ?? outcome}
                  {url !== undefined && ` (${url})`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {!isAdmin && <p>{t`An administrator can connect one.`}</p>}
    </section>
  );
}

const names: Readonly<Record<string, string>> = { ollama: "Ollama", llamacpp: "llama.cpp", lmstudio: "LM Studio" };
