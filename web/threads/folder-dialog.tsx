import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import { createKnowledgeClient } from "../../src/client/knowledge.ts";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import { client, server } from "../page/server.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ChoiceField, TextField } from "../parts/forms/fields.tsx";
import { Form } from "../parts/forms/form.tsx";
import { PicksField } from "../parts/menus/picks-field.tsx";
import { lists } from "./list-client.ts";
import { threadsChanged } from "./thread-queries.ts";

type FolderDialogProps = {
  /** Undefined: a new one. */
  readonly folder: FolderView | undefined;
  readonly onSaved: (folder: FolderView) => Promise<void>;
  readonly onClose: () => void;
};

const knowledge = createKnowledgeClient(server);

/** What a folder is called, and what conversations in it begin with. */
export function FolderDialog({ folder, onSaved, onClose }: FolderDialogProps) {
  const [name, setName] = useState(folder?.name ?? "");
  const [agent, setAgent] = useState(folder?.settings.agent ?? "");
  const [collections, setCollections] = useState<readonly string[]>(folder?.settings.collections ?? []);
  const agents = useQuery({ queryKey: ["agents"], queryFn: ({ signal }) => client.agents(signal) });
  const known = useQuery({ queryKey: ["collections"], queryFn: ({ signal }) => knowledge.collections(signal) });
  async function save(): Promise<void> {
    const settings = {
      ...folder?.settings,
      agent: agent === "" ? undefined : agent,
      collections: collections.length === 0 ? undefined : [...collections],
    };
    const saved = folder
      ? (await lists.changeFolder(folder.id, { name, settings })).find(({ id }) => id === folder.id)!
      : await lists.addFolder({ name, settings });
    await onSaved(saved);
    threadsChanged();
  }
  return (
    <Dialog title={folder ? t`Folder settings` : t`New folder`} onClose={onClose}>
      <Form name={folder?.name ?? t`New folder`} submit={t`Save`} onSubmit={save}>
        <div className="grid basis-full gap-3">
          <TextField label={t`Name`} value={name} onChange={setName} isNeeded isWide />
          <ChoiceField
            label={t`Default agent`}
            help={t`Answers in new conversations of this folder.`}
            value={agent}
            onChange={setAgent}
            options={[["", t`(default)`], ...(agents.data ?? []).map(({ id }): [string, string] => [id, `@${id}`])]}
          />
          <PicksField
            label={t`Collections`}
            help={t`Searched by the agents of new conversations in this folder.`}
            picked={collections}
            picks={(known.data ?? []).map(({ name: value, description }) => ({ value, about: description }))}
            onChange={setCollections}
            texts={{
              takeOut: (text) => t`Remove ${text}`,
              asTyped: (text) => text,
              nothing: t`No collections yet`,
            }}
          />
        </div>
      </Form>
    </Dialog>
  );
}
