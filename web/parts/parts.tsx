import { type ReactNode, useId, useState } from "react";
import { copyText } from "../copy-text.ts";
import { base, reasonOf } from "../server.ts";
import { goTo } from "../path.ts";
import { words } from "../words.ts";
import type { Loaded } from "./loaded.ts";

/** Why something failed, where it failed; lines stay lines. */
export function Problem({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p role="alert" className="text-sm whitespace-pre-wrap text-bad">
      {text}
    </p>
  );
}

export type Grade = "ok" | "warn" | "bad" | "quiet";
export const marks: Readonly<Record<Grade, string>> = { ok: "●", warn: "▲", bad: "■", quiet: "○" };

/** A state in words, with a shape and a colour. */
export function State({ grade, children }: { readonly grade: Grade; readonly children: ReactNode }) {
  const colour = { ok: "text-ok", warn: "text-warn", bad: "text-bad", quiet: "text-muted" }[grade];
  return (
    <span className="whitespace-nowrap">
      <span aria-hidden className={colour}>
        {marks[grade]}
      </span>{" "}
      {children}
    </span>
  );
}

/** Worth knowing, and in the way of nothing; of any length. */
export function Note({ children }: { readonly children: ReactNode }) {
  return (
    <div>
      <span aria-hidden className="text-warn">
        {marks.warn}
      </span>{" "}
      {children}
    </div>
  );
}

type ActProps = {
  readonly onAct: () => Promise<unknown>;
  readonly isSure?: IsSure | undefined;
  readonly children: ReactNode;
  /** Read out instead of what is shown: says of what. */
  readonly name?: string;
  readonly look?: "button" | "button-main" | "icon-button";
  readonly isDisabled?: boolean;
};

/** A button for what takes a while and may fail: the reason stands beside it. */
export function Act({ onAct, isSure, children, name, look = "button", isDisabled = false }: ActProps) {
  const { isBusy, problem, act } = useAct(onAct, isSure);
  return (
    <>
      <button
        type="button"
        className={look}
        aria-label={name}
        disabled={isDisabled}
        // With `disabled` it would lose the focus.
        aria-disabled={isBusy || undefined}
        onClick={() => {
          if (!isBusy) act();
        }}
      >
        {children}
      </button>
      <Problem text={problem} />
    </>
  );
}

/** Asks back before it is done. */
type IsSure<Input = void> = (input: Input) => Promise<boolean>;

/** Does something once at a time, and keeps why it failed. */
export function useAct<Input = void>(
  onAct: (input: Input) => Promise<unknown>,
  isSure?: IsSure<Input>,
): {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  readonly act: (input: Input) => void;
} {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  function act(input: Input): void {
    setBusy(true);
    setProblem(undefined);
    onAct(input)
      .catch((error: unknown) => setProblem(reasonOf(error)))
      .finally(() => setBusy(false));
  }
  return {
    isBusy,
    problem,
    act(input) {
      if (!isSure) act(input);
      else void isSure(input).then((is) => is && act(input));
    },
  };
}

type FormProps = {
  readonly name: string;
  readonly submit: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly isSure?: IsSure | undefined;
  readonly children: ReactNode;
  readonly beside?: ReactNode;
};

/** Fields and what is done with them; Enter does it too. What was typed stays when it fails. */
export function Form({ name, submit, onSubmit, isSure, children, beside }: FormProps) {
  const { isBusy, problem, act } = useAct(onSubmit, isSure);
  return (
    <form
      aria-label={name}
      className="flex flex-wrap items-end gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) act();
      }}
    >
      {children}
      <button type="submit" className="button-main" aria-disabled={isBusy || undefined}>
        {submit}
      </button>
      {beside}
      <div className="basis-full empty:hidden">{problem !== undefined && <Problem text={problem} />}</div>
    </form>
  );
}

type FieldProps = { readonly label: string; readonly children: ReactNode; readonly isWide?: boolean };

export function Field({ label, children, isWide = false }: FieldProps) {
  return (
    <label className={`grid grid-cols-[minmax(0,auto)] gap-1 text-xs text-muted ${isWide ? "basis-full" : ""}`}>
      {label}
      {children}
    </label>
  );
}

type TextProps = {
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
export function TextField({ label, value, onChange, type = "text", hint, choices, isNeeded, isWide }: TextProps) {
  const list = useId();
  return (
    <Field label={label} isWide={isWide}>
      <input
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

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly isDisabled?: boolean;
};

export function ChoiceField({ label, value, onChange, options, isDisabled }: ChoiceProps) {
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

type TableProps = {
  readonly name: string;
  readonly head: readonly string[];
  /** From which column on there are numbers; they stand at the right. */
  readonly numbersFrom?: number;
  /** The first column behind them. */
  readonly numbersTo?: number;
  readonly children: ReactNode;
};

/**
 * A dense table: its head stays, and it scrolls by itself where it is too wide or long. On a narrow screen each row is a card
 * (dense.css), whose labels are the heads.
 */
export function Table({ name, head, numbersFrom = 99, numbersTo = 99, children }: TableProps) {
  return (
    <div className="table-frame" role="region" aria-label={name} tabIndex={0}>
      <table className="dense" style={Object.fromEntries(head.map((text, at) => [`--head-${at + 1}`, quoted(text)]))}>
        <thead>
          <tr>
            {head.map((text, at) => (
              <th key={text} scope="col" className={at >= numbersFrom && at < numbersTo ? "number" : undefined}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** As a string of a style sheet. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\\n]/g, (sign) => `\\${sign.codePointAt(0)!.toString(16)} `)}"`;
}

/** What stands instead of a table while there is nothing to show. */
export function Waiting({ of }: { readonly of: Loaded<unknown> }) {
  if (of.problem !== undefined)
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Problem text={of.problem} />
        <button type="button" className="button" onClick={of.reload}>
          {words.tryAgain}
        </button>
      </div>
    );
  return of.data === undefined ? <p className="text-muted">{words.loading}</p> : null;
}

/** A secret that is told once. */
export function Once({ label, text, onClose }: { readonly label: string; readonly text: string; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div role="status" className="grid gap-2 rounded-card border border-hairline bg-raised p-3 text-sm">
      <span>{label}</span>
      <code className="break-all">{text}</code>
      <span className="flex gap-2">
        <button type="button" className="button" onClick={() => void copyText(text).then(setCopied)}>
          {isCopied ? words.copied : words.copy}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {words.close}
        </button>
      </span>
    </div>
  );
}

/** Leads elsewhere on the page without loading it anew. */
export function PageLink({
  to,
  children,
  look,
  isCurrent = false,
  onFollow,
}: {
  readonly to: string;
  readonly children: ReactNode;
  readonly look?: string;
  readonly isCurrent?: boolean;
  /** Called when it leads on, here on the page. */
  readonly onFollow?: () => void;
}) {
  return (
    <a
      href={base + to.slice(1)}
      className={look ?? "text-accent underline"}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onFollow?.();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}
