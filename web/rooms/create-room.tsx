import { useState } from "react";
import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { AgentView } from "../../src/protocol/agents/agents.ts";
import type { Activation, RoomKind } from "../../src/protocol/agents/rooms.ts";
import { Note } from "../parts/note.tsx";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { navigateUnlessLeft } from "../page/path.ts";
import { client } from "../page/server.ts";
import "./rooms.css";

type RoomKindMember = RoomKind["members"][number];
type ChosenAgents = ReadonlyMap<string, Activation>;
type CreateRoomProps = { readonly kinds: readonly RoomKind[]; readonly agents: readonly AgentView[] };

/** A room of a kind, or of agents of one's choice: which of them are in it, and when each of them listens. */
export function CreateRoom({ kinds, agents }: CreateRoomProps) {
  const [title, setTitle] = useState("");
  const [kindId, setKindId] = useState(kinds[0]?.id ?? "");
  const kind = kinds.find(({ id }) => id === kindId);
  const [chosen, setChosen] = useState(() => usualFor(kind, agents));
  const offered = offeredFor(kind, agents);

  async function begin(): Promise<void> {
    if (chosen.size === 0) throw new Error(t`Choose at least one agent.`);
    const members = offered.flatMap(({ handle }) => {
      const activation = chosen.get(handle);
      return activation === undefined ? [] : [{ agent: handle, activation }];
    });
    // What was put together has no name of its own.
    const name = title.trim() || (kind ? "" : members.map(({ agent }) => `@${agent}`).join(", "));
    const leadOn = navigateUnlessLeft();
    const { id } = await client.rooms.create({
      ...(name !== "" && { title: name }),
      ...(kind && { kind: kind.id }),
      ...(!isAsKind(chosen, kind) && { members }),
    });
    leadOn(`/rooms/${id}`);
  }

  return (
    <Form name={t`New room`} submit={t`Create room`} onSubmit={begin}>
      <TextField
        label={t`Name`}
        hint={(kind && builtInText(kind.title)) ?? t`What is it about?`}
        value={title}
        onChange={setTitle}
      />
      <ChoiceField
        label={t`Kind`}
        value={kindId}
        onChange={(next) => {
          setKindId(next);
          setChosen(
            usualFor(
              kinds.find(({ id }) => id === next),
              agents,
            ),
          );
        }}
        options={[
          ...kinds.map(({ id, title: name }) => [id, builtInText(name)] as const),
          ["", t`Custom: choose the agents`],
        ]}
      />
      {kind && kind.description !== "" && (
        <p className="basis-full text-sm text-muted">{builtInText(kind.description)}</p>
      )}
      <fieldset className="basis-full">
        <legend className="text-xs text-muted">{t`Agents`}</legend>
        <ul className="agent-choice">
          {offered.map((agent) => (
            <AgentRow
              key={agent.handle}
              agent={agent}
              listens={chosen.get(agent.handle)}
              onChoose={(activation) => setChosen(withChoice(chosen, agent, activation))}
            />
          ))}
        </ul>
      </fieldset>
      <div role="status" className="basis-full text-sm empty:hidden">
        {chosen.size > 0 && ![...chosen.values()].includes("always") && (
          <Note>{t`None of these agents is always listening: they answer only when mentioned with @.`}</Note>
        )}
      </div>
    </Form>
  );
}

type AgentRowProps = {
  readonly agent: RoomKindMember;
  /** Undefined: it is not in the room. */
  readonly listens: Activation | undefined;
  readonly onChoose: (activation: Activation | undefined) => void;
};

function AgentRow({ agent: { handle, description, activation }, listens, onChoose }: AgentRowProps) {
  return (
    <li>
      <label>
        <input
          type="checkbox"
          className="size-4"
          checked={listens !== undefined}
          onChange={({ target }) => onChoose(target.checked ? activation : undefined)}
        />
        <span>
          <span className="font-semibold">@{handle}</span>
          <span className="block text-sm text-muted">{builtInText(description)}</span>
        </span>
      </label>
      {listens !== undefined && (
        <select
          className="field min-h-8 text-sm"
          aria-label={t`When @${handle} listens`}
          value={listens}
          onChange={({ target }) => onChoose(target.value === "always" ? "always" : "mention")}
        >
          <option value="always">{t`always listening`}</option>
          <option value="mention">{t`when mentioned`}</option>
        </select>
      )}
    </li>
  );
}

/** The kind's own, and behind them the server's. A room can be in no room. */
function offeredFor(kind: RoomKind | undefined, agents: readonly AgentView[]): readonly RoomKindMember[] {
  const own = kind?.members ?? [];
  const others = agents.filter(({ id, strategy }) => strategy !== "room" && !own.some(({ handle }) => handle === id));
  return [
    ...own,
    ...others.map(({ id, description }): RoomKindMember => ({ handle: id, description, activation: "mention" })),
  ];
}

/** All of a kind; else the one that answers where nobody is named, so that somebody listens. */
function usualFor(kind: RoomKind | undefined, agents: readonly AgentView[]): ChosenAgents {
  if (kind) return new Map(kind.members.map(({ handle, activation }) => [handle, activation]));
  const usual = agents.find(({ isDefault }) => isDefault) ?? agents.find(({ id }) => id === "assistant");
  return new Map(usual && usual.strategy !== "room" ? [[usual.id, "always"]] : []);
}

/** The first that is chosen always listens: else nobody would answer a message to all. */
function withChoice(
  chosen: ChosenAgents,
  { handle }: RoomKindMember,
  activation: Activation | undefined,
): ChosenAgents {
  const next = new Map(chosen);
  if (activation === undefined) next.delete(handle);
  else next.set(handle, chosen.size === 0 ? "always" : activation);
  return next;
}

function isAsKind(chosen: ChosenAgents, kind: RoomKind | undefined): boolean {
  const own = kind?.members ?? [];
  return (
    kind !== undefined &&
    own.length === chosen.size &&
    own.every(({ handle, activation }) => chosen.get(handle) === activation)
  );
}
