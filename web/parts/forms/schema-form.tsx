import { t } from "@lingui/core/macro";
import { type ControlElement, problemText } from "./field-problems.ts";
import { Field } from "./fields.tsx";
import { type FieldProblem, type FormDraft, type SchemaField, typedIn } from "./schema-fields.ts";

type SchemaFormProps = {
  readonly fields: readonly SchemaField[];
  readonly draft: FormDraft;
  readonly onChange: (draft: FormDraft) => void;
  /** By the paths of the fields that they are of. */
  readonly problems: ReadonlyMap<string, FieldProblem>;
};

/** The fields of a JSON Schema, to be filled in; `readForm` makes the value of what was typed. */
export function SchemaForm({ fields, draft, onChange, problems }: SchemaFormProps) {
  return (
    <div className="grid basis-full gap-3">
      {fields.map((field) =>
        field.kind === "group" ? (
          <fieldset key={field.path} className="schema-group">
            <legend>
              <Label field={field} />
            </legend>
            {field.description !== "" && <p className="text-muted">{field.description}</p>}
            <SchemaForm fields={field.fields} draft={draft} onChange={onChange} problems={problems} />
          </fieldset>
        ) : (
          <OneField
            key={field.path}
            field={field}
            text={typedIn(draft, field.path)}
            problem={problems.get(field.path)}
            onChange={(text) => onChange({ ...draft, [field.path]: text })}
          />
        ),
      )}
    </div>
  );
}

function Label({ field }: { readonly field: SchemaField }) {
  const hint = [
    ...(field.isNeeded ? [t`required`] : []),
    ...(field.kind === "lines" ? [t`one per line`] : []),
    ...(field.kind === "json" ? [t`JSON`] : []),
  ];
  return (
    <>
      <code className="text-ink">{field.name}</code>
      {hint.length > 0 && <span className="text-muted"> ({hint.join(", ")})</span>}
    </>
  );
}

type OneFieldProps = {
  readonly field: Exclude<SchemaField, { kind: "group" }>;
  readonly text: string;
  readonly problem: FieldProblem | undefined;
  readonly onChange: (text: string) => void;
};

function OneField({ field, text, problem, onChange }: OneFieldProps) {
  const help = field.description === "" ? undefined : field.description;
  return (
    <Field label={<Label field={field} />} help={help}>
      {(control) => {
        const shared = {
          ...control,
          // Said by the form that it stands in, when it is time.
          ref: (element: ControlElement | null) => element?.setCustomValidity(problem ? problemText(problem) : ""),
          className: "field w-full text-ink",
          value: text,
          "aria-required": field.isNeeded,
          onChange: (event: { readonly target: { readonly value: string } }) => onChange(event.target.value),
        };
        if (field.kind === "choice" || field.kind === "switch")
          return (
            <select {...shared}>
              <option value="">{t`(not set)`}</option>
              {optionsOf(field).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          );
        if (field.kind === "number") return <input {...shared} inputMode="decimal" autoComplete="off" />;
        if (field.kind === "text" && !field.isLong)
          return <input {...shared} dir="auto" autoComplete="off" spellCheck={false} />;
        return <textarea {...shared} dir="auto" rows={3} spellCheck={false} />;
      }}
    </Field>
  );
}

function optionsOf(field: Extract<SchemaField, { kind: "choice" | "switch" }>): (readonly [string, string])[] {
  return field.kind === "switch"
    ? [
        ["true", t`yes`],
        ["false", t`no`],
      ]
    : field.choices.map((choice, at) => [String(at), typeof choice === "string" ? choice : JSON.stringify(choice)]);
}
