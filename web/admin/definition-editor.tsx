import { type ReactNode, useState } from "react";
import { t } from "@lingui/core/macro";
import type { DefinedView } from "../../src/protocol/agents/definitions.ts";
import type { DefinitionDraft, KindClient } from "../../src/client/definitions.ts";
import { commandLineOf } from "../../src/protocol/agents/command-line.ts";
import { confirmAction } from "../parts/confirm.tsx";
import { definitionOf, type FieldSpec, definitionForm, type DefinitionForm, linesOf } from "./definition-fields.ts";
import { Act } from "../parts/action-button.tsx";
import { Form } from "../parts/forms/form.tsx";
import { PicksField } from "../parts/menus/picks-field.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/fields.tsx";
import { addNames, sourceNames } from "./admin-names.ts";

const kinds = { models: "model", agents: "agent", "mcp-servers": "mcp-server" } as const;

type DefinitionEditorProps<View extends DefinedView> = {
  readonly section: "models" | "agents" | "mcp-servers";
  readonly kind: KindClient<View>;
  readonly fields: readonly FieldSpec[];
  /** What is changed; absent: a new one. */
  readonly entry?: View;
  /** What a new one begins with. */
  readonly draft?: DefinitionDraft;
  readonly onSaved: (view: View) => void | Promise<void>;
  readonly onClose: () => void;
  /** Where closing leads back to a step before. */
  readonly closeName?: string;
  /** Tries what is written without keeping it. */
  readonly tryIt?: (draft: DefinitionDraft) => Promise<ReactNode>;
  /** Stands below where it is defined. */
  readonly about?: ReactNode;
  readonly children?: ReactNode;
};

/** A form for the usual keys of a definition, and JSON for the others. */
export function DefinitionEditor<View extends DefinedView>(props: DefinitionEditorProps<View>) {
  const {
    section,
    kind,
    fields,
    entry,
    draft,
    onSaved,
    onClose,
    closeName = t`Cancel`,
    tryIt,
    about,
    children,
  } = props;
  const [id, setId] = useState(entry?.id ?? draft?.id ?? "");
  const [written, setWritten] = useState<DefinitionForm>(() =>
    definitionForm(entry?.definition ?? draft?.definition ?? {}, fields),
  );
  // Of what is written here, though the list is read again. What is built in has none: saving defines one in its place.
  const [revision] = useState(entry?.revision ?? undefined);
  const [trial, setTrial] = useState<ReactNode>();
  const isReadOnly = entry?.readOnly ?? false;

  const read = (): DefinitionDraft => {
    const definition = definitionOf(written, fields);
    if (!definition) throw new Error(t`This is not valid JSON.`);
    return { id: id.trim(), definition };
  };
  /** What runs a program here goes on only once somebody has seen what it runs. */
  const confirmed = async (): Promise<DefinitionDraft | undefined> => {
    const given = read();
    const confirm = commandLineOf(kinds[section], given.definition);
    if (confirm === undefined) return given;
    const isSure = await confirmAction({
      title: t`Run this program as the server's user?`,
      text: confirm,
      action: t({ context: "verb", message: `Run` }),
      isGrave: true,
    });
    return isSure ? { ...given, confirm } : undefined;
  };
  async function save(): Promise<void> {
    const given = await confirmed();
    if (given) await onSaved(await kept(given));
  }
  const kept = (given: DefinitionDraft) =>
    revision === undefined ? kind.create(given) : kind.change({ ...given, revision });

  return (
    <section className="rounded-card border border-hairline p-3" aria-label={entry?.id ?? addNames[section]}>
      <fieldset disabled={isReadOnly} className="contents">
        <Form
          name={entry?.id ?? addNames[section]}
          submit={t`Save`}
          onSubmit={save}
          asksBeforeLeaving
          beside={
            <>
              {tryIt && (
                <Act
                  onAct={async () => {
                    const given = await confirmed();
                    if (given) setTrial(await tryIt(given));
                  }}
                >
                  {t`Test`}
                </Act>
              )}
              {!isReadOnly && (
                <button type="button" className="button" onClick={onClose}>
                  {closeName}
                </button>
              )}
            </>
          }
        >
          <div className="basis-full">
            <h2>{entry?.id ?? addNames[section]}</h2>
            {entry && <p className="text-muted">{placeText(entry)}</p>}
            {about}
          </div>
          <div className="form-columns">
            {!entry && (
              <TextField
                label={t`Name`}
                name="id"
                help={t`Short, without spaces. It is written in addresses and, for agents, after the @.`}
                value={id}
                onChange={setId}
                isNeeded
              />
            )}
            {fields
              .filter(({ key }) => written.values[key] !== undefined)
              .map((field) => (
                <SpecField
                  key={field.key}
                  field={field}
                  value={written.values[field.key] ?? ""}
                  onChange={(value) => setWritten({ ...written, values: { ...written.values, [field.key]: value } })}
                />
              ))}
          </div>
          <RestOfDefinition
            isOpen={written.rest !== "" && isReadOnly}
            text={written.rest}
            onChange={(rest) => setWritten({ ...written, rest })}
          />
          {children}
        </Form>
      </fieldset>
      {trial !== undefined && <div className="pt-3">{trial}</div>}
      {isReadOnly && (
        <button type="button" className="button mt-3" onClick={onClose}>
          {t`Close`}
        </button>
      )}
    </section>
  );
}

type RestProps = { readonly isOpen: boolean; readonly text: string; readonly onChange: (text: string) => void };

/** What no field says. */
function RestOfDefinition({ isOpen, text, onChange }: RestProps) {
  return (
    <details className="basis-full" open={isOpen}>
      <summary>{t`Advanced (JSON)`}</summary>
      <Field label={t`Other keys of the definition`} isWide>
        {(control) => (
          <textarea
            {...control}
            className="field w-full text-ink"
            rows={8}
            value={text}
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
    </details>
  );
}

/** Where it is defined, and what that means for changing it. */
function placeText({ source, where, readOnly, revision }: DefinedView): string {
  const place = `${sourceNames[source]}${where === null ? "" : ` (${where})`}`;
  if (readOnly) return t`Defined in ${place}. Change it there.`;
  return revision === null
    ? t`Source: ${place}. What you save here overrides it until you delete it.`
    : t`Defined here. Changes take effect immediately.`;
}

type SpecFieldProps = {
  readonly field: FieldSpec;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function SpecField({ field, value, onChange }: SpecFieldProps) {
  const { key, label, kind, choices = [], hint, help, isNeeded = false, picks } = field;
  const about = { label, name: key, help };
  if (picks)
    return (
      <PicksField
        {...about}
        hint={hint}
        picks={picks}
        isOpenEnded
        picked={linesOf(value)}
        onChange={(picked) => onChange(picked.join("\n"))}
        texts={{
          takeOut: (text) => t`Remove ${text}`,
          asTyped: (text) => t`Everything that matches ${text}`,
          nothing: t`Nothing matches. Type a pattern such as *_task.`,
        }}
      />
    );
  if (kind === "choice")
    return (
      <ChoiceField
        {...about}
        value={value}
        onChange={onChange}
        options={[...new Set([...choices, value])].map((each) => [each, each === "" ? t`(default)` : each])}
      />
    );
  if (kind === "line" || kind === "secret")
    return (
      <TextField
        {...about}
        value={value}
        onChange={onChange}
        type={kind === "secret" ? "password" : "text"}
        hint={hint}
        isNeeded={isNeeded}
        {...(choices.length > 0 && { choices })}
      />
    );
  return (
    <Field {...about} isWide={kind === "long"}>
      {(control) => (
        <textarea
          {...control}
          className="field w-full min-w-60 text-ink"
          rows={kind === "long" ? 8 : 3}
          value={value}
          placeholder={hint}
          spellCheck={kind === "long"}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** What of the address is open: `database/writer`. */
export function entryKey({ source, id }: DefinedView): string {
  return `${source}/${id}`;
}
