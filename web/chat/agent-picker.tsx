import type { ModelState } from "../../src/protocol/agents/model-states.ts";
import { time } from "../parts/format.ts";
import { ListBox, type ListOption } from "../parts/menus/list-box.tsx";
import { State } from "../parts/state.tsx";
import type { AnswererChoice } from "../conversation/answerer-choice.ts";
import type { Answerers } from "../conversation/models-store.ts";
import { talkWords } from "../conversation/talk-words.ts";
import "./talk.css";

type AgentPickerProps = AnswererChoice & {
  readonly answerers: Answerers;
  readonly onChoose: (change: Partial<AnswererChoice>) => void;
};

/** Who answers, and with which model: how each does is said beside it. */
export function AgentPicker({ agent, model, answerers: { agents, models }, onChoose }: AgentPickerProps) {
  const own = agents.find(({ id }) => id === agent)?.model ?? "";
  return (
    <>
      <ListBox
        name={talkWords.agents.name}
        value={agent}
        search={talkWords.agents.search}
        nothing={talkWords.models.none}
        onChange={(chosen) => onChoose({ agent: chosen })}
        options={agents.map(({ id, description, model: its }) => ({
          value: id,
          name: `@${id}`,
          words: description,
          about: `${description} · ${talkWords.agents.ownModel(its)}`,
        }))}
      />
      <ListBox
        name={talkWords.models.name}
        value={model}
        search={talkWords.models.search}
        nothing={talkWords.models.none}
        onChange={(chosen) => onChoose({ model: chosen })}
        options={[
          { value: "", name: talkWords.models.own, about: talkWords.models.ownIs(own) },
          ...models.filter(({ mayName }) => mayName).map(optionOf),
        ]}
      />
      {modelOf({ agent, model }, { agents, models })?.demo && (
        <span className="demo-badge" title={talkWords.demoHint}>
          <span className="wide-words">{talkWords.demo}</span>
          <span className="narrow-words" aria-hidden>
            {talkWords.demoShort}
          </span>
        </span>
      )}
    </>
  );
}

/** The model that will answer; undefined as long as it is not known. */
function modelOf({ agent, model }: AnswererChoice, { agents, models }: Pick<Answerers, "agents" | "models">) {
  const asked = model === "" ? agents.find(({ id }) => id === agent)?.model : model;
  return models.find(({ id }) => id === asked);
}

function optionOf(model: ModelState): ListOption {
  const { id, provider, members, reason, lastError, demo, state } = model;
  const chain = members.length > 0 ? talkWords.models.chain(members) : provider;
  return {
    value: id,
    name: id,
    words: `${provider} ${members.join(" ")}`,
    isDisabled: state === "unavailable",
    about: (
      <>
        <StateOfModel model={model} /> · {demo ? talkWords.models.demo : chain}
        {reason !== undefined && <Why text={reason} />}
        {state === "failing" && lastError !== undefined && <Why text={lastError} />}
      </>
    ),
  };
}

/** One line of it, without what the line above says already; the whole where one points at it. */
function Why({ text }: { readonly text: string }) {
  return (
    <span className="block truncate" title={text}>
      {text.replace(/^(\w+: )?Model ".*?" at \S+: /, "")}
    </span>
  );
}

const grades = { ready: "ok", untried: "quiet", failing: "warn", unavailable: "bad" } as const;

function StateOfModel({ model: { state, lastErrorAt } }: { readonly model: ModelState }) {
  const text = state === "failing" ? talkWords.models.failing(time(lastErrorAt ?? "")) : talkWords.models[state];
  return <State grade={grades[state]}>{text}</State>;
}
