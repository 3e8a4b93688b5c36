import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import { selectsByGlobs } from "../../src/protocol/base/glob.ts";
import type { ThreadSettings } from "../../src/protocol/threads/threads.ts";
import { useAnswerers } from "../conversation/models-store.ts";
import { queries } from "../page/queries.ts";
import { client } from "../page/server.ts";
import { announce } from "../parts/announce.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { Form } from "../parts/forms/form.tsx";
import { runsInside } from "../run-list/runs-client.ts";
import { useThread } from "../threads/thread-queries.ts";
import { PicksField } from "../parts/menus/picks-field.tsx";

type ConversationSettingsProps = { readonly threadId: string; readonly agent: string };

/** How this conversation is answered from now on: a model, instructions, fewer tools. */
export function ConversationSettings({ threadId, agent }: ConversationSettingsProps) {
  const settings = useThread(threadId)?.settings;
  if (!settings) return <p className="text-muted">{t`Loading…`}</p>;
  return <SettingsForm threadId={threadId} agent={agent} settings={settings} />;
}

type SettingsFormProps = ConversationSettingsProps & { readonly settings: ThreadSettings };

function SettingsForm({ threadId, agent, settings }: SettingsFormProps) {
  const { agents, models } = useAnswerers();
  const [written, setWritten] = useState({
    model: settings.model ?? "",
    temperature: settings.temperature?.toString() ?? "",
    maxTokens: settings.maxTokens?.toString() ?? "",
    reasoningEffort: settings.reasoningEffort ?? "",
    instructions: settings.instructions ?? "",
  });
  const [toolsOff, setToolsOff] = useState<readonly string[]>(settings.toolsOff ?? []);
  const field = (name: keyof typeof written) => ({
    name: `settings.${name}`,
    value: written[name],
    onChange: (value: string) => setWritten({ ...written, [name]: value }),
  });
  const isOffered = selectsByGlobs(agents.find(({ id }) => id === agent)?.tools ?? []);
  const tools = useQuery({ queryKey: ["tools"], queryFn: ({ signal }) => runsInside.tools(signal) }).data ?? [];
  async function save(): Promise<void> {
    const { model, temperature, maxTokens, reasoningEffort, instructions } = written;
    const changed = await client.changeThread(threadId, {
      settings: {
        ...(model !== "" && { model }),
        ...(temperature !== "" && { temperature: Number(temperature) }),
        ...(maxTokens !== "" && { maxTokens: Number(maxTokens) }),
        ...(reasoningEffort !== "" && { reasoningEffort }),
        ...(instructions.trim() !== "" && { instructions }),
        ...(toolsOff.length > 0 && { toolsOff: [...toolsOff] }),
      },
    });
    queries.setQueryData(["thread", threadId], changed);
    announce(t`Saved. It counts from the next message on.`);
  }
  return (
    <Form name={t`Conversation settings`} submit={t`Save`} onSubmit={save} asksBeforeLeaving>
      <div className="grid basis-full gap-3">
        <ChoiceField
          label={t`Model`}
          {...field("model")}
          options={[
            ["", t`The agent's own`],
            ...models.filter(({ mayName }) => mayName).map(({ id }): [string, string] => [id, id]),
          ]}
        />
        <Field label={t`Instructions`} name="settings.instructions">
          {(control) => (
            <textarea
              {...control}
              dir="auto"
              className="field w-full text-ink"
              rows={5}
              value={written.instructions}
              onChange={(event) => field("instructions").onChange(event.target.value)}
            />
          )}
        </Field>
        <TextField
          label={t`Temperature`}
          type="number"
          help={t`Lower answers are steadier, higher ones more varied. Empty: as the agent has it.`}
          {...field("temperature")}
        />
        <TextField
          label={t`Longest answer, in tokens`}
          type="number"
          least={1}
          isWhole
          help={t`At most as many as the agent allows.`}
          {...field("maxTokens")}
        />
        <ChoiceField
          label={t`Reasoning effort`}
          {...field("reasoningEffort")}
          options={[
            ["", t`(default)`],
            ["low", t`low`],
            ["medium", t`medium`],
            ["high", t`high`],
          ]}
        />
        <PicksField
          label={t`Tools that are off`}
          help={t`The agent can't use these in this conversation.`}
          picked={toolsOff}
          picks={tools.filter(({ name }) => isOffered(name)).map(({ name }) => ({ value: name }))}
          onChange={setToolsOff}
          texts={{
            takeOut: (text) => t`Remove ${text}`,
            asTyped: (text) => text,
            nothing: t`This agent has no other tools.`,
          }}
        />
      </div>
    </Form>
  );
}
