import { type ReactNode, useId } from "react";

type FieldProps = {
  readonly label: string;
  readonly children: ReactNode;
  readonly isWide?: boolean | undefined;
  readonly help?: Help | undefined;
};

/** Below a field, what it is for; the field says by `aria-describedby` that this belongs to it. */
type Help = { readonly id: string; readonly text: string };

export function Field({ label, children, isWide = false, help }: FieldProps) {
  return (
    <div className={`grid grid-cols-[minmax(0,1fr)] content-start gap-1 ${isWide ? "basis-full" : ""}`}>
      <label className="grid grid-cols-[minmax(0,1fr)] gap-1 text-xs text-muted">
        {label}
        {children}
      </label>
      {help && (
        <p id={help.id} className="field-help">
          {help.text}
        </p>
      )}
    </div>
  );
}

/** For a field with such a text, if it has one. */
export function useHelp(text: string | undefined): Help | undefined {
  const id = useId();
  return text === undefined ? undefined : { id, text };
}

type TextFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "password" | "number" | "url" | "search";
  readonly hint?: string;
  readonly choices?: readonly string[];
  readonly isNeeded?: boolean;
  readonly isWide?: boolean;
  readonly help?: string | undefined;
};

/** One line; with `choices` those are offered, and anything else may be written. */
export function TextField({
  label,
  value,
  onChange,
  type = "text",
  hint,
  choices,
  isNeeded,
  isWide,
  help,
}: TextFieldProps) {
  const list = useId();
  const explained = useHelp(help);
  return (
    <Field label={label} isWide={isWide} help={explained}>
      <input
        dir="auto"
        className="field text-ink"
        type={type}
        step={type === "number" ? "any" : undefined}
        min={type === "number" ? 0 : undefined}
        value={value}
        placeholder={hint}
        required={isNeeded}
        aria-describedby={explained?.id}
        list={choices && list}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      {choices && (
        <datalist id={list}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
    </Field>
  );
}

type ChoiceFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly isDisabled?: boolean;
  readonly help?: string | undefined;
};

export function ChoiceField({ label, value, onChange, options, isDisabled, help }: ChoiceFieldProps) {
  const explained = useHelp(help);
  return (
    <Field label={label} help={explained}>
      <select
        aria-describedby={explained?.id}
        className="field min-h-8 text-ink"
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}
