import { type ReactNode, useId } from "react";

type FieldProps = { readonly label: string; readonly children: ReactNode; readonly isWide?: boolean };

export function Field({ label, children, isWide = false }: FieldProps) {
  return (
    <label className={`grid grid-cols-[minmax(0,auto)] gap-1 text-xs text-muted ${isWide ? "basis-full" : ""}`}>
      {label}
      {children}
    </label>
  );
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
};

/** One line; with `choices` those are offered, and anything else may be written. */
export function TextField({ label, value, onChange, type = "text", hint, choices, isNeeded, isWide }: TextFieldProps) {
  const list = useId();
  return (
    <Field label={label} isWide={isWide}>
      <input
        dir="auto"
        className="field text-ink"
        type={type}
        step={type === "number" ? "any" : undefined}
        min={type === "number" ? 0 : undefined}
        value={value}
        placeholder={hint}
        required={isNeeded}
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
};

export function ChoiceField({ label, value, onChange, options, isDisabled }: ChoiceFieldProps) {
  return (
    <Field label={label}>
      <select
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
