import { t } from "@lingui/core/macro";
import type { ModelTrial } from "../../src/protocol/agents/trials.ts";
import type { FieldSpec } from "./definition-fields.ts";
import { duration } from "../parts/format.ts";
import { State } from "../parts/state.tsx";

export const modelFields: readonly FieldSpec[] = [
  { key: "provider", label: t`Protocol`, kind: "choice", choices: ["openai", "ollama", "anthropic"] },
  { key: "baseUrl", label: t`Address`, kind: "line", hint: "http://localhost:11434" },
  { key: "model", label: t`Provider's model name`, kind: "line" },
  { key: "apiKey", label: t`API key`, kind: "secret" },
];

/** What a model answered when it was tried, or what went wrong and what to do. */
export function Trial({ trial }: { readonly trial: ModelTrial }) {
  if (trial.ok)
    return (
      <p role="status">
        {trial.text.trim() === "" ? (
          <State grade="warn">{t`The model returned an empty answer.`}</State>
        ) : (
          <>
            <State grade="ok">{t`Answered. First token after ${{ first: duration(trial.firstPartMs) }}, total ${{ whole: duration(trial.totalMs) }}`}</State>{" "}
            “{trial.text.slice(0, 300)}”
          </>
        )}
      </p>
    );
  return (
    <div role="alert">
      <State grade="bad">{trial.error}</State>
      <p>{trial.advice}</p>
    </div>
  );
}
