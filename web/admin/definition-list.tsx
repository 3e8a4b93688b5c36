import { type ReactNode, useState } from "react";
import { t } from "@lingui/core/macro";
import type { DefinedView } from "../../src/protocol/agents/definitions.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import type { DefinitionDraft, KindClient } from "../../src/client/definitions.ts";
import { changeQuery, goTo, useQuery } from "../page/path.ts";
import { DefinitionEditor, entryKey } from "./definition-editor.tsx";
import type { FieldSpec } from "./definition-fields.ts";
import type { AnswerState } from "../parts/answers.ts";
import { State } from "../parts/state.tsx";
import { Act } from "../parts/action-button.tsx";
import { Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { addNames, sectionNames, sourceNames } from "./admin-names.ts";

const stateNames = { shadowed: t`overridden`, refused: t`invalid` };

type DefinitionListProps<View extends DefinedView> = {
  readonly section: "models" | "agents" | "mcp-servers";
  readonly kind: KindClient<View>;
  readonly fields: readonly FieldSpec[];
  readonly loaded: AnswerState<readonly View[]>;
  /** Columns between the id and where it is from. */
  readonly head: readonly string[];
  readonly cells: (view: View) => readonly ReactNode[];
  /** What can be done besides changing and deleting it; `show` puts something below the row. */
  readonly actions: (view: View, show: (what: ReactNode) => void) => ReactNode;
  /** What is to be known of one, in its form too. */
  readonly about?: (view: View) => ReactNode;
  readonly tryDraft?: (draft: DefinitionDraft) => Promise<ReactNode>;
  /** Instead of an empty editor for a new one. */
  readonly create?: (close: () => void) => ReactNode;
};

/** What is defined, wherever it is, with the next thing to do beside it. */
export function DefinitionList<View extends DefinedView>(props: DefinitionListProps<View>) {
  const { section, kind, fields, loaded, head, cells, actions, about, tryDraft, create } = props;
  const query = useQuery();
  const opened = query.get("edit");
  const entry = loaded.data?.find((each) => entryKey(each) === opened);
  const isNew = query.has("new");
  const close = () => changeQuery({ edit: undefined, new: undefined, back: undefined });
  const saved = () => {
    loaded.reload();
    // Whoever came from the beginning of a conversation to make something for it goes on there.
    if (isNew && query.get("back") === "chat") goTo("/");
    else close();
  };
  const editor = { section, kind, fields, onSaved: saved, onClose: close, ...(tryDraft && { tryIt: tryDraft }) };
  return (
    <>
      {isNew ? (
        (create?.(saved) ?? <DefinitionEditor {...editor} />)
      ) : (
        <div>
          <button type="button" className="button-main" onClick={() => changeQuery({ new: "1", edit: undefined })}>
            {addNames[section]}
          </button>
        </div>
      )}
      {entry && <DefinitionEditor key={opened} {...editor} entry={entry} about={about?.(entry)} />}
      <Waiting of={loaded} />
      {loaded.data && (
        <Table name={sectionNames[section]} head={[t`Name`, ...head, t`Defined in`, t`Actions`]}>
          {loaded.data.map((view) => (
            <Row key={entryKey(view)} view={view} cells={cells(view)} actions={actions} kind={kind} onChange={saved} />
          ))}
        </Table>
      )}
    </>
  );
}

type DefinitionRowProps<View extends DefinedView> = {
  readonly view: View;
  readonly cells: readonly ReactNode[];
  readonly kind: KindClient<View>;
  readonly actions: DefinitionListProps<View>["actions"];
  readonly onChange: () => void;
};

function Row<View extends DefinedView>({ view, cells, actions, kind, onChange }: DefinitionRowProps<View>) {
  const [below, setBelow] = useState<ReactNode>();
  const [inUse, setInUse] = useState<string>();
  const { id, source, where, readOnly, revision, state, problems } = view;

  async function remove(force: boolean): Promise<void> {
    try {
      await kind.remove(id, { force });
      onChange();
    } catch (error) {
      if (!force && error instanceof ColloquyError && error.status === 409) setInUse(error.message);
      else throw error;
    }
  }

  return (
    <>
      <tr>
        <th scope="row">
          {id}
          {state !== "active" && (
            <div className="font-normal">
              <State grade={state === "refused" ? "bad" : "warn"}>{stateNames[state]}</State>
            </div>
          )}
          {problems.map(({ path, message }) => (
            <div key={path + message} className="font-normal text-bad">
              {path} {message}
            </div>
          ))}
        </th>
        {cells.map((cell, at) => (
          <td key={at}>{cell}</td>
        ))}
        <td>
          {sourceNames[source]}
          {where !== null && <div className="text-muted">{where}</div>}
        </td>
        <td>
          <div className="row-actions">
            {state === "active" && actions(view, setBelow)}
            <button
              type="button"
              className="button"
              aria-label={`${readOnly ? t`View` : t`Edit`}: ${id}`}
              onClick={() => changeQuery({ edit: entryKey(view), new: undefined })}
            >
              {readOnly ? t`View` : t`Edit`}
            </button>
            {revision !== null && (
              <Act
                name={`${t`Delete`}: ${id}`}
                isSure={() =>
                  confirmAction({
                    ...{
                      title: t`Delete ${id}?`,
                      text: t`Nobody can use it any more, unless it is also defined elsewhere.`,
                    },
                    action: t`Delete`,
                  })
                }
                onAct={() => remove(false)}
              >
                {t`Delete`}
              </Act>
            )}
          </div>
          {inUse !== undefined && (
            <div className="grid justify-items-start gap-1 pt-1">
              <p role="alert" className="text-bad">
                {inUse}
              </p>
              <Act onAct={() => remove(true)}>{t`Delete anyway`}</Act>
            </div>
          )}
        </td>
      </tr>
      {below !== undefined && (
        <tr>
          <td colSpan={cells.length + 3}>
            <div className="flex flex-wrap items-start gap-3" role="status">
              <div className="min-w-0 grow">{below}</div>
              <button type="button" className="button" onClick={() => setBelow(undefined)}>
                {t`Close`}
              </button>
            </div>
          </td>
        </tr>
      )}
    </>
  );
}
