import { useState } from "react";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { DefinedAgent } from "../../src/protocol/agents/definitions.ts";
import { client } from "../page/server.ts";
import { words } from "../words/words.ts";
import { adminWords } from "./admin-words.ts";
import { definitions } from "./admin-client.ts";
import { Default } from "./default-choice.tsx";
import type { FieldSpec } from "./definition-fields.ts";
import { DefinitionList } from "./definition-list.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { figure } from "../parts/format.ts";
import { Note } from "../parts/note.tsx";
import { Form } from "../parts/forms/form.tsx";
import { TextField } from "../parts/forms/fields.tsx";
import { PageLink } from "../parts/page-link.tsx";

const texts = adminWords.agents;
const strategies = ["tools", "chat", "react", "plan-execute", "json-actions", "auto"];

/** Who answers: what each is told, which model it asks, and what it may use. */
export function Agents() {
  const loaded = useLoaded("agents", definitions.agents.list);
  const models = useLoaded("names of models", client.models);
  const revisions = loaded.data?.map(({ id, revision }) => `${id} ${revision}`).join();
  const listed = useLoaded(`agents ${revisions}`, client.agents);
  const promptSize = ({ id, state }: DefinedAgent) => {
    const agent = state === "active" && listed.data?.find((each) => each.id === id);
    return agent && <PromptSize of={agent} />;
  };
  const fields: readonly FieldSpec[] = [
    { key: "description", label: texts.description, kind: "line" },
    { key: "model", label: words.model, kind: "line", hint: "default", choices: models.data ?? [] },
    { key: "strategy", label: texts.strategy, kind: "choice", choices: ["", ...strategies] },
    { key: "activation", label: texts.activation, kind: "choice", choices: ["", "mention", "always"] },
    { key: "instructions", label: texts.instructions, kind: "long" },
    { key: "tools", label: texts.tools, kind: "words", hint: "*_task" },
    { key: "agents", label: texts.agents, kind: "words", hint: "researcher" },
  ];
  return (
    <>
      <Default of="agent" names={loaded.data?.filter(({ state }) => state === "active").map(({ id }) => id)} />
      <DefinitionList
        section="agents"
        kind={definitions.agents}
        fields={fields}
        loaded={loaded}
        head={[texts.description, words.model, texts.strategy]}
        about={promptSize}
        cells={(agent) => [
          <>
            {settingText(agent.definition?.["description"])}
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
              aria-label={`${adminWords.definitions.tryIt}: ${id}`}
              onClick={() => show(<TryAgent key={id} id={id} />)}
            >
              {adminWords.definitions.tryIt}
            </button>
            <a className="button" href={definitions.agentFile(id)} download aria-label={`${texts.file}: ${id}`}>
              {texts.file}
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
      <div className="text-muted">{texts.promptTokens(figure(promptTokens))}</div>
      {contextTokens !== null && promptTokens > contextTokens / 10 && (
        <Note>
          {texts.share(Math.round((promptTokens / contextTokens) * 100), figure(contextTokens))}{" "}
          {toolTokens > instructionTokens
            ? texts.dearTools(figure(toolTokens))
            : texts.dearInstructions(figure(instructionTokens))}
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
      name={`${adminWords.definitions.tryIt}: ${id}`}
      submit={words.send}
      onSubmit={async () => setThread((await definitions.tryAgent(id, prompt)).threadId)}
      beside={thread !== undefined && <PageLink to={`/chat/${thread}`}>{texts.follow}</PageLink>}
    >
      <TextField label={words.messageTo(id)} value={prompt} onChange={setPrompt} isNeeded />
    </Form>
  );
}
