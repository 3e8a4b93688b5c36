import { createContext } from "react";
import { t } from "@lingui/core/macro";
import { ColloquyError } from "../../../src/protocol/base/errors.ts";
import type { FieldProblem } from "./schema-fields.ts";

export function problemText(problem: FieldProblem): string {
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

/** What is wrong in a form, in words, by the ids of its controls. */
export type ProblemsOfForm = ReadonlyMap<string, string>;
export const FormProblems = createContext<ProblemsOfForm>(new Map());

export type ControlElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function isControl(element: EventTarget): element is ControlElement {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  );
}

export function controlsOf(form: HTMLFormElement): readonly ControlElement[] {
  return [...form.elements].filter(isControl);
}

/** What its attributes, or whoever called `setCustomValidity`, say against what stands in it; undefined: nothing. */
export function controlProblem(control: ControlElement): string | undefined {
  const { validity, validationMessage } = control;
  const { min = "", max = "" } = control instanceof HTMLInputElement ? control : {};
  if (validity.valid) return undefined;
  if (validity.customError) return validationMessage;
  if (validity.valueMissing) return problemText({ code: "missing" });
  if (validity.badInput) return problemText({ code: "number" });
  if (validity.stepMismatch) return problemText({ code: "whole" });
  if (validity.rangeUnderflow && min !== "") return problemText({ code: "least", bound: Number(min) });
  if (validity.rangeOverflow && max !== "") return problemText({ code: "most", bound: Number(max) });
  return validationMessage;
}

/** What a server found wrong, at the controls whose names are the paths of it; and what stands at none. */
export function placeProblems(
  error: unknown,
  controls: readonly ControlElement[],
): { readonly placed: ProblemsOfForm; readonly others: readonly string[] } {
  const placed = new Map<string, string>();
  const others: string[] = [];
  for (const { path, message } of problemsOf(error)) {
    const control = controls.find(
      ({ name }) => name !== "" && (path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`)),
    );
    if (control) placed.set(control.id, message);
    else others.push(path === "" ? message : `${path}: ${message}`);
  }
  return { placed, others };
}

function problemsOf(error: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (!(error instanceof ColloquyError)) return [];
  const { param, problems } = error.detail;
  if (problems && problems.length > 0) return problems;
  if (param === undefined) return [];
  const named = `${param}: `;
  return [
    { path: param, message: error.message.startsWith(named) ? error.message.slice(named.length) : error.message },
  ];
}
