import { useState } from "react";
import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { DefinedAgent } from "../../src/protocol/agents/definitions.ts";
import { client } from "../page/server.ts";
import { definitions } from "./admin-client.ts";
import { Default } from "./default-choice.tsx";
import type { FieldSpec } from "./definition-fields.ts";
import { DefinitionList } from "./definition-list.tsx";
import { useAnswer } from "../parts/answers.ts";
import { figure } from "../parts/format.ts";
import { runsInside } from "../run-list/runs-client.ts";
import { Note } from "../parts/note.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { PageLink } from "../parts/page-link.tsx";
const strategies = ["tools", "chat", "react", "plan-execute", "json-actions", "auto"];

/** Who answers: what each is told, which model it asks, and what it may use. */
export function Agents() {
  const loaded = useAnswer(["admin", "agents"], definitions.agents.list);
  const models = useAnswer(["models"], client.models);
  const revisions = loaded.data?.map(({ id, revision }) => `${id} ${revision}`).join();
  const listed = useAnswer(["agents", revisions], client.agents);
  const tools = useAnswer(["tools"], (signal) => runsInside.tools(signal));
  const promptSize = ({ id, state }: DefinedAgent) => {
    const agent = state === "active" && listed.data?.find((each) => each.id === id);
    return agent && <PromptSize of={agent} />;
  };
  const fields: readonly FieldSpec[] = [
    {
      key: "description",
      label: t`Description`,
      kind: "line",
      help: t`What it is good at. People read it, and other agents choose by it.`,
    },
    {
      key: "model",
      label: t`Model`,
      kind: "line",
      hint: "default",
      choices: models.data ?? [],
      help: t`Leave empty for the server's default model.`,
    },
    {
      key: "strategy",
      label: t`Strategy`,
      kind: "choice",
      choices: ["", ...strategies],
      help: t`How it works: “tools” calls tools until it is done, “plan-execute” plans first, “chat” only talks.`,
    },
    {
      key: "activation",
      label: t`In rooms, answers`,
      kind: "choice",
      choices: ["", "mention", "always"],
      help: t`When it speaks in a room: only when it is mentioned, or to every message.`,
    },
    {
      key: "instructions",
      label: t`Instructions`,
      kind: "long",
      help: t`Part of every call to the model: what it is, how it should work, what it must not do.`,
    },
    {
      key: "tools",
      label: t`Tools`,
      kind: "words",
      hint: "*_task",
      help: t`Pick tools, or type a pattern such as *_task; * is every tool its user may use. None: it only talks.`,
      picks: (tools.data ?? []).map(({ name, description }) => ({ value: name, about: firstSentence(description) })),
    },
    {
      key: "agents",
      label: t`Can delegate to`,
      kind: "words",
      hint: "researcher",
      help: t`Agents that it may hand work on to.`,
      picks: (listed.data ?? []).map(({ id, description }) => ({ value: id, about: description })),
    },
  ];
  return (
    <>
      <Default of="agent" names={loaded.data?.filter(({ state }) => state === "active").map(({ id }) => id)} />
      <DefinitionList
        section="agents"
        kind={definitions.agents}
        fields={fields}
        loaded={loaded}
        head={[t`Description`, t`Model`, t`Strategy`]}
        about={promptSize}
        cells={(agent) => [
          <>
            {builtInText(settingText(agent.definition?.["description"]))}
            {agent.warnings.map((warning) => (
              <Note key={warning}>
                <span title={warning}>{firstSentence(warning)}</span>
              </Note>
            ))}
          </>,
          <>
            {agent.model ?? settingText(agent.definition?.["model"])}
            {promptSize(agent)}
          </>,
          settingText(agent.definition?.["strategy"]),
        ]}
        actions={({ id }, show) => (
          <>
            <button
              type="button"
              className="button"
              aria-label={`${t`Test`}: ${id}`}
              onClick={() => show(<TryAgent key={id} id={id} />)}
            >
              {t`Test`}
            </button>
            <a className="button" href={definitions.agentFile(id)} download aria-label={`${t`Download`}: ${id}`}>
              {t`Download`}
            </a>
          </>
        )}
      />
    </>
  );
}

/** What each call of the agent costs before anybody has said a word, and what makes it dear. */
function PromptSize({ of: { promptTokens, toolTokens, contextTokens } }: { readonly of: AgentView }) {
  const instructionTokens = promptTokens - toolTokens;
  return (
    <>
      <div className="text-muted">{t`${{ count: figure(promptTokens) }} tokens at the start`}</div>
      {contextTokens !== null && promptTokens > contextTokens / 10 && (
        <Note>
          {t`${{ percent: Math.round((promptTokens / contextTokens) * 100) }}% of its model's ${{ window: figure(contextTokens) }}.`}{" "}
          {toolTokens > instructionTokens
            ? t`Tools take ${{ tokens: figure(toolTokens) }}: list fewer to save them in every call.`
            : t`Its instructions take ${{ tokens: figure(instructionTokens) }}, in every call.`}
        </Note>
      )}
    </>
  );
}

/** Behind it there may be a long list of what there is instead. */
const firstSentence = (text: string) => /^.*?\.(?= )/.exec(text)?.[0] ?? text;

function settingText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A run in a conversation of one's own, which can be followed there. */
function TryAgent({ id }: { readonly id: string }) {
  const [prompt, setPrompt] = useState("");
  const [thread, setThread] = useState<string>();
  return (
    <Form
      name={`${t`Test`}: ${id}`}
      submit={t`Send`}
      onSubmit={async () => setThread((await definitions.tryAgent(id, prompt)).threadId)}
      beside={thread !== undefined && <PageLink to={`/chat/${thread}`}>{t`View conversation`}</PageLink>}
    >
      <TextField label={t`Message @${{ agent: id }}`} value={prompt} onChange={setPrompt} isNeeded />
    </Form>
  );
}
