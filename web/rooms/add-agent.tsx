import { useState } from "react";
import { t } from "@lingui/core/macro";
import { builtInText } from "../parts/built-in-text.ts";
import type { Activation, ChosenMember, RoomView } from "../../src/protocol/agents/rooms.ts";
import { useAnswer } from "../parts/answers.ts";
import { Form } from "../parts/forms/form.tsx";
import { ChoiceField } from "../parts/forms/fields.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { client } from "../page/server.ts";

type AddAgentProps = { readonly room: RoomView; readonly onChanged: () => void };

/** For the owner: agents that are not in the room, and when the one that comes in is to listen. */
export function AddAgent({ room, onChanged }: AddAgentProps) {
  const loaded = useAnswer(["rooms", "kinds"], async (signal) => {
    const [agents, { kinds }] = await Promise.all([client.agents(signal), client.rooms.list(signal)]);
    return { agents, kinds };
  });
  const [wished, setWished] = useState("");
  const [activation, setActivation] = useState<Activation>("mention");
  if (!loaded.data) return <Waiting of={loaded} />;

  const { agents, kinds } = loaded.data;
  const own = kinds.find(({ id }) => id === room.kind)?.members.map(({ handle }) => handle) ?? [];
  const others = agents.flatMap(({ id, strategy }) => (strategy === "room" ? [] : [id]));
  const here = new Set(room.members.map(({ handle }) => handle));
  const absent = [...new Set([...own, ...others])].filter((handle) => !here.has(handle));
  const agent = absent.includes(wished) ? wished : absent[0];
  if (agent === undefined) return <p className="mt-2 text-muted">{t`All of this server's agents are here.`}</p>;
  const description = agents.find(({ id }) => id === agent)?.description ?? "";

  return (
    <div className="mt-3">
      <Form
        name={t`Add an agent`}
        submit={t`Invite`}
        onSubmit={async () => {
          await client.rooms.change(room.id, { members: [...agentsOf(room), { agent, activation }] });
          onChanged();
        }}
      >
        <ChoiceField
          label={t`Add an agent`}
          value={agent}
          onChange={setWished}
          options={absent.map((handle) => [handle, `@${handle}`])}
        />
        <ChoiceField
          label={t`When @${{ handle: agent }} listens`}
          value={activation}
          onChange={(next) => setActivation(next === "always" ? "always" : "mention")}
          options={[
            ["mention", t`when mentioned`],
            ["always", t`always listening`],
          ]}
        />
        {description !== "" && <p className="basis-full text-xs text-muted">{builtInText(description)}</p>}
      </Form>
    </div>
  );
}

/** Each agent as it listens now, but one. */
export function agentsOf(room: RoomView, without?: string): readonly ChosenMember[] {
  return room.members.flatMap((member) =>
    member.kind === "agent" && member.handle !== without
      ? [{ agent: member.handle, activation: member.activation }]
      : [],
  );
}
