import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { ModelState } from "../../src/protocol/agents/model-states.ts";
import { time } from "../parts/format.ts";
import { ListBox, type ListOption } from "../parts/menus/list-box.tsx";
import { State } from "../parts/state.tsx";
import type { AnswererChoice } from "../conversation/answerer-choice.ts";
import type { Answerers } from "../conversation/models-store.ts";
import "./talk.css";

const modelStates = {
  ready: t`available`,
  untried: t`not used recently`,
  unavailable: t`unavailable`,
  demo: t`demo: rule-based, not a language model`,
};

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
        name={t`Agent`}
        value={agent}
        search={t`Search agents`}
        nothing={t`No matches`}
        onChange={(chosen) => onChoose({ agent: chosen })}
        options={agents.map(({ id, description, model: its }) => ({
          value: id,
          name: `@${id}`,
          words: builtInText(description),
          about: `${builtInText(description)} · ${t`uses ${{ model: its }}`}`,
        }))}
      />
      <ListBox
        name={t`Model`}
        value={model}
        search={t`Search models`}
        nothing={t`No matches`}
        onChange={(chosen) => onChoose({ model: chosen })}
        options={[
          { value: "", name: t`Default model`, about: t`uses ${{ model: own }}` },
          ...models.filter(({ mayName }) => mayName).map(optionOf),
        ]}
      />
      {modelOf({ agent, model }, { agents, models })?.demo && (
        <span
          className="demo-badge"
          title={t`No language model is connected. The demo model follows rules and uses the real tools.`}
        >
          <span className="wide-words">{t`Demo model`}</span>
          <span className="narrow-words" aria-hidden>
            {t`Demo`}
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
  const chain = members.length > 0 ? members.join(t`, then `) : provider;
  return {
    value: id,
    name: id,
    words: `${provider} ${members.join(" ")}`,
    isDisabled: state === "unavailable",
    about: (
      <>
        <StateOfModel model={model} /> · {demo ? t`demo: rule-based, not a language model` : chain}
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
  const text = state === "failing" ? t`failed ${{ when: time(lastErrorAt ?? "") }}` : modelStates[state];
  return <State grade={grades[state]}>{text}</State>;
}
