import { type ReactNode, useContext, useId } from "react";
import { FormProblems } from "./field-problems.ts";

/** What ties the control of a field to its label, to what is said about it, and to the server's word on it. */
export type FieldControl = {
  readonly id: string;
  readonly name: string | undefined;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
};

type FieldProps = {
  readonly label: ReactNode;
  readonly children: (control: FieldControl) => ReactNode;
  /** Where the server looks for it in what is sent, as `settings.chunkSize`: what it finds wrong there is said here. */
  readonly name?: string | undefined;
  readonly isWide?: boolean | undefined;
  /** Below it: what it is for. */
  readonly help?: string | undefined;
};

/** A control with its label above; what is wrong with it, and what it is for, stand below. */
export function Field({ label, children, name, isWide = false, help }: FieldProps) {
  const id = useId();
  const problem = useContext(FormProblems).get(id);
  const about = [problem !== undefined && `${id}-problem`, help !== undefined && `${id}-help`]
    .filter(Boolean)
    .join(" ");
  return (
    <div className={`grid grid-cols-[minmax(0,1fr)] content-start gap-1 self-start ${isWide ? "basis-full" : ""}`}>
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      {children({
        id,
        name,
        "aria-describedby": about || undefined,
        "aria-invalid": problem !== undefined || undefined,
      })}
      {problem !== undefined && (
        <p id={`${id}-problem`} role="alert" dir="auto" className="text-xs text-bad first-letter:uppercase">
          {problem}
        </p>
      )}
      {help !== undefined && (
        <p id={`${id}-help`} className="text-xs leading-snug text-muted">
          {help}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, "children"> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "password" | "number" | "url" | "search";
  readonly hint?: string;
  readonly choices?: readonly string[];
  readonly isNeeded?: boolean;
  /** Of a number; 0 when absent. */
  readonly least?: number;
  readonly most?: number | undefined;
  /** Of a number: there is no half of it. */
  readonly isWhole?: boolean;
};

/** One line; with `choices` those are offered, and anything else may be written. */
export function TextField({
  value,
  onChange,
  type = "text",
  hint,
  choices,
  isNeeded,
  least = 0,
  most,
  isWhole = false,
  ...field
}: TextFieldProps) {
  const list = useId();
  const number = type === "number" && { step: isWhole ? 1 : "any", min: least, max: most };
  return (
    <Field {...field}>
      {(control) => (
        <>
          <input
            {...control}
            {...number}
            dir="auto"
            className="field text-ink"
            type={type}
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
        </>
      )}
    </Field>
  );
}

type ChoiceFieldProps = Omit<FieldProps, "children"> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly isDisabled?: boolean;
};

export function ChoiceField({ value, onChange, options, isDisabled, ...field }: ChoiceFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
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
      )}
    </Field>
  );
}
