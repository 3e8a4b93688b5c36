import { useId } from "react";
import { t } from "@lingui/core/macro";
import { type FormDraft, type FieldProblem, type SchemaField, typedIn } from "./schema-fields.ts";

type SchemaFormProps = {
  readonly fields: readonly SchemaField[];
  readonly draft: FormDraft;
  readonly onChange: (draft: FormDraft) => void;
  /** Shown beside the fields that they are of. */
  readonly problems?: ReadonlyMap<string, FieldProblem>;
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
            <SchemaForm fields={field.fields} draft={draft} onChange={onChange} {...(problems ? { problems } : {})} />
          </fieldset>
        ) : (
          <OneField
            key={field.path}
            field={field}
            text={typedIn(draft, field.path)}
            problem={problems?.get(field.path)}
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
  const id = useId();
  const about = [field.description !== "" && `${id}-about`, problem && `${id}-problem`].filter(Boolean).join(" ");
  const shared = {
    id,
    className: "field w-full text-ink",
    value: text,
    "aria-invalid": problem !== undefined,
    "aria-required": field.isNeeded,
    ...(about === "" ? {} : { "aria-describedby": about }),
    onChange: (event: { readonly target: { readonly value: string } }) => onChange(event.target.value),
  };
  return (
    <div className="grid gap-1">
      <label htmlFor={id}>
        <Label field={field} />
      </label>
      {field.description !== "" && (
        <p id={`${id}-about`} className="text-muted">
          {field.description}
        </p>
      )}
      {field.kind === "choice" || field.kind === "switch" ? (
        <select {...shared}>
          <option value="">{t`(not set)`}</option>
          {optionsOf(field).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      ) : field.kind === "number" ? (
        <input {...shared} inputMode="decimal" autoComplete="off" />
      ) : field.kind === "text" && !field.isLong ? (
        <input {...shared} dir="auto" autoComplete="off" spellCheck={false} />
      ) : (
        <textarea {...shared} dir="auto" rows={3} spellCheck={false} />
      )}
      {problem && (
        <p id={`${id}-problem`} role="alert" className="text-bad">
          {problemText(problem)}
        </p>
      )}
    </div>
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

function problemText(problem: FieldProblem): string {
  switch (problem.code) {
    case "missing":
      return t`Required`;
    case "number":
      return t`Must be a number.`;
    case "whole":
      return t`Must be a whole number.`;
    case "json":
      return t`This is not valid JSON.`;
    case "least":
      return t`Must be at least ${{ value: problem.bound }}.`;
    case "most":
      return t`Must be at most ${{ value: problem.bound }}.`;
    case "short":
      return t`Must have at least ${{ length: problem.bound }} characters.`;
    case "long":
      return t`Must have at most ${{ length: problem.bound }} characters.`;
  }
}
